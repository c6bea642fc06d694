from __future__ import annotations

import json

import pytest

import rocm3d_kernels
from rocm3d_kernels.dispatch import choose
from tests.device import DEVICE, on_gpu, torch


def test_tensors_on_different_devices_are_refused():
    with pytest.raises(ValueError, match=f"add: tensors are on different devices: {DEVICE}, meta"):
        choose("add", torch.ones(1), torch.ones(1, device="meta"))


def test_an_unknown_override_is_refused(monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "cuda")

    with pytest.raises(ValueError, match="ROCM3D_KERNELS is 'cuda'"):
        choose("add", torch.ones(1))


def test_an_unsupported_dtype_is_refused():
    with pytest.raises(TypeError, match="dtype int64 is not supported, the kernel supports float32"):
        choose("add", torch.ones(1, dtype=torch.int64))


def test_triton_override_is_refused_on_the_cpu(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    monkeypatch.setenv("ROCM3D_KERNELS", "triton")

    with pytest.raises(ValueError, match="Triton does not run on cpu tensors"):
        choose("add", torch.ones(1, device="cpu"))


def test_the_cpu_takes_the_reference(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)

    assert choose("add", torch.ones(1, device="cpu")) == "reference"
    dispatch = rocm3d_kernels.last_dispatch()
    assert (dispatch.op, dispatch.implementation, dispatch.device) == ("add", "reference", "cpu")
    assert "Triton does not run" in dispatch.reason


@pytest.mark.cpu_only("a GPU refuses dtypes that its kernel does not support")
def test_the_interpreter_takes_the_kernel_and_the_reference_what_it_cannot():
    assert choose("add", torch.ones(1)) == "triton"
    assert choose("add", torch.ones(1, dtype=torch.float64)) == "reference"
    assert rocm3d_kernels.last_dispatch().reason == "no kernel for float64"


@pytest.mark.gpu_only("the interpreter falls back to the reference")
def test_a_gpu_takes_the_kernel_and_refuses_what_it_cannot():
    assert choose("add", torch.ones(1)) == "triton"
    assert rocm3d_kernels.last_dispatch().reason == "tensors on cuda"
    with pytest.raises(TypeError, match="ROCM3D_KERNELS=reference supports it"):
        choose("add", torch.ones(1, dtype=torch.float64))


def test_the_override_wins_and_is_reported(monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")

    assert choose("add", torch.ones(1)) == "reference"
    assert rocm3d_kernels.last_dispatch().reason == "ROCM3D_KERNELS=reference"


def test_each_choice_is_recorded_once(monkeypatch, tmp_path):
    monkeypatch.setenv("ROCM3D_RECORD", str(tmp_path / "events"))

    for _ in range(3):
        choose("recorded once", torch.ones(1))

    (line,) = (tmp_path / "events").read_text().splitlines()
    assert json.loads(line) == {
        "kind": "dispatch",
        "op": "recorded once",
        "implementation": "triton",
        "reason": "tensors on cuda" if on_gpu() else "TRITON_INTERPRET=1",
        "device": DEVICE.type,
    }


def test_a_record_that_cannot_be_written_stops_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("ROCM3D_RECORD", str(tmp_path))

    assert choose("not recorded", torch.ones(1)) == "triton"
    assert "not recorded" in capsys.readouterr().err
