from __future__ import annotations

import pytest

from rocm3d.verify.compilation import visit
from rocm3d.verify.compilation.building import Building
from rocm3d.verify.probe import Case
from rocm3d.verify.probes import compile_extensions
from rocm3d.verify.probes.compile_extensions import attempt

SETUP = """from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension
setup(ext_modules=[CUDAExtension("p._C", ["k.cu"])])
"""
KERNEL = "#include <cuda_runtime.h>\n__global__ void k(float* x) { x[0] = 1; }\n"


@pytest.fixture
def compiling(ported, monkeypatch):
    """A case that may be compiled; without `kit` the real search for a kit runs."""

    def make(tree, kit=None, base=None, refused="") -> Case:
        made = ported(tree, base=base) if base else ported(tree)
        if kit is not None:
            monkeypatch.setattr(visit, "find_kit", lambda *_: kit)
        values = (made.plan, made.patch, made.tree, made.originals, made.now, made.targets, made.knowledge)
        return Case(*values, building=Building(refused))

    return make


def test_it_has_to_be_asked_for(compiling):
    (verdict,) = attempt(compiling({"setup.py": SETUP, "k.cu": KERNEL}, refused=Building().refused))

    assert verdict.outcome == "not_run"
    assert "--level compile" in verdict.reason


def test_without_a_toolchain_it_is_not_run(compiling):
    (verdict,) = attempt(compiling({"setup.py": SETUP, "k.cu": KERNEL}))

    assert verdict.outcome == "not_run"
    assert "rocm3d toolchain prepare" in verdict.reason


def test_a_stack_with_the_other_generation_of_hipify_is_not_run(compiling, knowledge, stack, monkeypatch):
    asked = []

    def find_kit(recipes, generation, headers, interpreter):
        asked.append(generation)
        return f"no torch with hipify generation {generation} found"

    monkeypatch.setattr(visit, "find_kit", find_kit)

    (verdict,) = attempt(compiling({"setup.py": SETUP, "k.cu": KERNEL}))

    assert asked == [stack.hipify]
    assert (verdict.outcome, "generation" in verdict.reason) == ("not_run", True)


def test_a_repository_without_extensions_is_skipped(compiling, kits):
    (verdict,) = attempt(compiling({"a.py": "x = 1\n"}, kits[1]))

    assert (verdict.outcome, verdict.reason) == ("skipped", "the repository builds no native extension")


def test_a_script_and_its_units_have_a_verdict_each(compiling, kits):
    verdicts = attempt(compiling({"setup.py": SETUP, "k.cu": KERNEL}, kits[1]))

    assert [item.outcome for item in verdicts] == ["passed", "passed"]
    assert verdicts[1].looked_at[1].startswith("gfx942: 1 kernel, wave 64")
    assert verdicts[1].looked_at[2].startswith("gfx1100: 1 kernel, wave 32")
    assert {item.probe for item in verdicts} == {compile_extensions.probe.name}
