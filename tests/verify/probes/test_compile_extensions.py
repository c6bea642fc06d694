from __future__ import annotations

import pytest

from rocm3d.model.errors import MachineError
from rocm3d.verify.compilation.compile_options import CompileOptions
from rocm3d.verify.probe import Case
from rocm3d.verify.probes import compile_extensions
from rocm3d.verify.probes.compile_extensions import probe

SETUP = """from setuptools import setup
from torch.utils.cpp_extension import CUDAExtension
setup(ext_modules=[CUDAExtension("p._C", ["k.cu"])])
"""
KERNEL = "#include <cuda_runtime.h>\n__global__ void k(float* x) { x[0] = 1; }\n"


@pytest.fixture
def compilable_case(ported, monkeypatch):
    """A case that may be compiled; without `kit` the real search for a kit runs."""

    def make(tree, kit=None, base=None, refused="") -> Case:
        plain_case = ported(tree, base=base) if base else ported(tree)
        if kit is not None:
            monkeypatch.setattr("rocm3d.verify.compilation.kit.find_kit", lambda *_: kit)
        values = (
            plain_case.plan,
            plain_case.patch,
            plain_case.tree,
            plain_case.originals,
            plain_case.current_scan,
            plain_case.targets,
            plain_case.knowledge,
        )
        return Case(*values, compile_options=CompileOptions(refused))

    return make


def test_not_run_by_default(compilable_case):
    (verdict,) = probe.attempt(
        compilable_case({"setup.py": SETUP, "k.cu": KERNEL}, refused=CompileOptions().disabled_reason)
    )

    assert verdict.outcome == "not_run"
    assert "--level compile" in verdict.reason


def test_without_a_toolchain_it_is_not_run(compilable_case):
    (verdict,) = probe.attempt(compilable_case({"setup.py": SETUP, "k.cu": KERNEL}))

    assert verdict.outcome == "not_run"
    assert "rocm3d toolchain prepare" in verdict.reason


def test_a_stack_with_the_other_generation_of_hipify_is_not_run(compilable_case, knowledge, stack, monkeypatch):
    generations = []

    def find_kit(recipes, generation, headers, interpreter):
        generations.append(generation)
        raise MachineError(f"no torch with hipify generation {generation} found")

    monkeypatch.setattr("rocm3d.verify.compilation.kit.find_kit", find_kit)

    (verdict,) = probe.attempt(compilable_case({"setup.py": SETUP, "k.cu": KERNEL}))

    assert generations == [stack.hipify]
    assert (verdict.outcome, "generation" in verdict.reason) == ("not_run", True)


def test_a_repository_without_extensions_is_skipped(compilable_case, kits):
    (verdict,) = probe.attempt(compilable_case({"a.py": "x = 1\n"}, kits[1]))

    assert (verdict.outcome, verdict.reason) == ("skipped", "the repository builds no native extension")


def test_a_script_and_each_side_of_its_units_have_a_verdict_each(compilable_case, kits):
    verdicts = probe.attempt(compilable_case({"setup.py": SETUP, "k.cu": KERNEL}, kits[1]))

    assert [item.outcome for item in verdicts] == ["passed"] * 4
    assert [(item.subject, item.target) for item in verdicts] == [
        ("setup.py", ""),
        *(("k.cu (p._C)", target) for target in ("gfx942", "gfx1100", "host")),
    ]
    assert verdicts[1].looked_at[0].startswith("gfx942: 1 kernel, wave 64")
    assert verdicts[2].looked_at[0].startswith("gfx1100: 1 kernel, wave 32")
    assert {item.probe for item in verdicts} == {compile_extensions.probe.name}
