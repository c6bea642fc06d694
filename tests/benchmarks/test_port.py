from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import port
import ported
import pytest

from rocm3d.knowledge.load import load
from rocm3d.model.verdict import CompileResult, KernelFacts

BUILD = """import torch
from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension

setup(ext_modules=[CUDAExtension("a", ["a.cu"], extra_compile_args={"nvcc": ["-O3", "--use_fast_math"]})],
      install_requires=["scipy"])
"""


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "setup.py").write_text(BUILD, encoding="utf-8")
    (tmp_path / "a.cu").write_text("__global__ void k(int* x) { *x = 1; }\n", encoding="utf-8")
    return tmp_path


def column(name: str, counted: set[str], compiled: set[str] | None = None) -> port.StateColumn:
    both = compiled or counted
    return port.StateColumn(name, both, {"gfx942": counted}, {"gfx942": both}, (), 1.0)


def failures_of(*columns: port.StateColumn) -> list[str]:
    benchmark = SimpleNamespace(config={"targets": ["gfx942"]}, failures=[])
    port.check_targets(benchmark, "x", list(columns))
    return benchmark.failures


def unit(source: str, kernels: tuple[KernelFacts, ...] = (), outcome: str = "compiled") -> SimpleNamespace:
    sides = {
        "gfx942": CompileResult(side="gfx942", outcome=outcome, kernels=kernels),
        "host": CompileResult(side="host", outcome="compiled"),
    }
    return SimpleNamespace(unit=SimpleNamespace(source=source, language="hip", extension="e"), sides=sides)


def test_fewer_units_than_the_human_port_are_a_failure():
    assert failures_of(column("base", set()), column("ours", {"a"}), column("port 1", {"a", "b"})) == [
        "x for gfx942: 1 units with our patch, 2 with the human port"
    ]


def test_no_more_than_the_base_is_a_failure_where_more_compiles():
    failures = failures_of(column("base", {"a"}, {"a", "b"}), column("ours", {"a"}), column("port 1", {"a"}))

    assert failures == ["x for gfx942: 1 units in the base and no more with our patch"]


def test_a_base_that_is_whole_needs_no_more():
    assert failures_of(column("base", {"a"}), column("ours", {"a"}), column("port 1", {"a"})) == []


def test_missing_or_empty_kernel_is_reported():
    cuda_kernels = {"a": (KernelFacts(name="k"), KernelFacts(name="l"))}

    assert (
        port.missing_kernels(unit("a.cu", (KernelFacts(name="k", empty=True),)), "gfx942", cuda_kernels)
        == "l, k (empty)"
    )
    assert (
        port.missing_kernels(unit("a.cu", (KernelFacts(name="k"), KernelFacts(name="l"))), "gfx942", cuda_kernels) == ""
    )
    assert port.missing_kernels(unit("b.cu"), "gfx942", cuda_kernels) == ""


def test_a_unit_that_does_not_compile_for_the_target_does_not_count():
    assert not port.compiles(unit("a.cu", outcome="failed"), "gfx942")
    assert port.compiles(unit("a.cu"), "gfx942")


def test_a_translated_copy_is_the_same_unit():
    assert port.unit_key("src/a.hip") == port.unit_key("src/a.cu")


def test_only_lines_of_files_that_stay_count():
    size = ported.edit_size({"a": b"1\n2\n", "gone": b"x\n"}, {"a": b"1\n3\n4\n", "new": b"y\n"})

    assert (size.added, size.removed, size.files) == (2, 1, 1)


def test_port_restores_the_folder(repository):
    before = ported.file_digests(repository)

    result = ported.port_and_undo(repository, load(), "gfx942")

    assert result.broken == ()
    assert b"is_rocm" in result.edits["setup.py"]
    assert ported.file_digests(repository) == before


def test_incomplete_undo_is_reported(repository, monkeypatch):
    undo = ported.Repository.undo

    def careless(self, *, keep_changed: bool) -> object:
        done = undo(self, keep_changed=keep_changed)
        (Path(self.root) / "a.cu").write_text("", encoding="utf-8")
        return done

    monkeypatch.setattr(ported.Repository, "undo", careless)

    assert ported.port_and_undo(repository, load(), "gfx942").broken == ("undo does not restore: a.cu",)
