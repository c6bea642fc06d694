from __future__ import annotations

import time

import pytest
import torch as plain_torch

from rocm3d_kernels import memory
from tests.device import DEVICE, on_gpu

GIB = 2**30


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A host with 8 GiB of free memory, without a container."""
    monkeypatch.setattr(memory, "MEMORY_INFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "CGROUP", tmp_path)
    (tmp_path / "meminfo").write_text(f"MemTotal: 99999999 kB\nMemFree: 1 kB\nMemAvailable: {8 * GIB // 1024} kB\n")
    return tmp_path


CPU = plain_torch.device("cpu")


def test_images_larger_than_the_free_memory_are_refused(machine):
    side = 2**14
    memory.check_images_fit("op", 1, side, side, 8, CPU)

    with pytest.raises(
        ValueError, match=r"op: 1 images of width 16384 .* need at least 9\.0 GiB, but cpu has 8\.0 GiB"
    ):
        memory.check_images_fit("op", 1, side, side, 9, CPU)


def test_container_may_have_less_than_the_machine(machine):
    (machine / "memory.max").write_text(f"{4 * GIB}\n")
    (machine / "memory.current").write_text(f"{3 * GIB}\n")
    assert memory.free_bytes(CPU) == GIB

    (machine / "memory.max").write_text("max\n")
    assert memory.free_bytes(CPU) == 8 * GIB


@pytest.mark.parametrize("text", ["", "MemAvailable:\n", "MemAvailable: x kB\n", "\xff"])
def test_unknown_memory_refuses_nothing(machine, text):
    (machine / "meminfo").write_text(text)

    assert memory.free_bytes(CPU) is None
    memory.check_images_fit("op", 1, 2**23, 2**20, 4, CPU)


def test_small_images_are_not_checked(machine, monkeypatch):
    monkeypatch.setattr(memory, "free_bytes", None)

    memory.check_images_fit("op", 1, 2048, 2048, 4, CPU)
    memory.check_images_fit("op", 1, 2**20, 2**20, 4, plain_torch.device("meta"))


@pytest.mark.gpu_only("memory of the GPU")
def test_free_memory_of_the_gpu_includes_what_torch_keeps():
    free, total = plain_torch.cuda.mem_get_info(DEVICE)
    before = memory.free_bytes(DEVICE)
    block = plain_torch.empty(GIB, dtype=plain_torch.uint8, device=DEVICE)
    during = memory.free_bytes(DEVICE)
    del block

    assert 0 < before <= total
    assert before >= free
    assert before - during >= GIB // 2
    assert memory.free_bytes(DEVICE) - during >= GIB // 2
    with pytest.raises(ValueError, match="GiB free"):
        memory.check_images_fit("op", 1, 2**20, 2**20, 4, DEVICE)


def test_check_takes_no_time_for_usual_images():
    device = DEVICE if on_gpu() else CPU
    start = time.perf_counter()
    for _ in range(1000):
        memory.check_images_fit("op", 1, 1920, 1080, 4, device)

    assert time.perf_counter() - start < 0.5
