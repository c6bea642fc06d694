from __future__ import annotations

import pytest

from rocm3d.model.verdict import CompileResult, KernelFacts
from rocm3d.verify.compilation.cuda_session import CudaUnitResult
from rocm3d.verify.compilation.session import CompileReport, UnitReport
from rocm3d.verify.compilation.translation_unit import TranslationUnit
from rocm3d.verify.probe import UncheckedError
from rocm3d.verify.probes import match_kernels
from rocm3d.verify.probes.match_kernels import probe

UNIT = TranslationUnit("k.cu", "k.hip", "p._C", "hip", ())


def side(name="gfx942", outcome="compiled", kernels=("_Z1kPf",), empty=(), **more) -> CompileResult:
    facts = tuple(KernelFacts(name=item, empty=item in empty) for item in kernels)
    return CompileResult(side=name, outcome=outcome, kernels=facts, **more)


@pytest.fixture
def unit_verdict(case, monkeypatch):
    """The verdict on one unit with these results of both compilers."""

    def verdict(ours: CompileResult, theirs):
        report = CompileReport((), (), (UnitReport(UNIT, {ours.side: ours}, {ours.side: ()}),), (), {}, "2.0.0")
        monkeypatch.setattr(match_kernels, "find_case_kit", lambda _: object())
        monkeypatch.setattr(match_kernels, "compile_with_hip", lambda *_: report)

        def compile_with_nvcc(*_, **__):
            if isinstance(theirs, str):
                raise UncheckedError(theirs)
            return (CudaUnitResult(UNIT, theirs),) if theirs else ()

        monkeypatch.setattr(match_kernels, "compile_with_nvcc", compile_with_nvcc)
        (result,) = probe.attempt(case())
        return result

    return verdict


def test_not_run_without_nvcc(unit_verdict):
    verdict = unit_verdict(side(), "nvcc is not installed")

    assert verdict.outcome == "not_run"
    assert verdict.reason == "no CUDA build to compare with: nvcc is not installed"


@pytest.mark.parametrize(
    ("ours", "theirs", "why"),
    [
        (side(outcome="failed"), side("nvcc"), "does not compile for every target"),
        (side(), side("nvcc", outcome="lacks", lacks="cudnn.h"), "nvcc: cudnn.h"),
        (side(), None, "is not part of the CUDA build"),
    ],
)
def test_a_unit_that_one_compiler_rejects_is_not_run(unit_verdict, ours, theirs, why):
    verdict = unit_verdict(ours, theirs)

    assert (verdict.outcome, verdict.reason) == ("not_run", why)
    assert verdict.subject == "k.cu (p._C)"


def test_a_kernel_that_vanished_fails(unit_verdict):
    verdict = unit_verdict(side(kernels=()), side("nvcc"))

    assert (verdict.outcome, verdict.reason) == (
        "failed",
        "gfx942: k: missing, or fewer instantiations than in the CUDA build",
    )


def test_a_kernel_that_became_empty_fails(unit_verdict):
    verdict = unit_verdict(side(empty=("_Z1kPf",)), side("nvcc"))

    assert verdict.outcome == "failed"
    assert "empty, but not empty in the CUDA build" in verdict.reason


def test_the_same_kernels_pass(unit_verdict):
    verdict = unit_verdict(side(), side("nvcc"))

    assert verdict.outcome == "passed"
    assert "kernels in both builds: 1" in verdict.looked_at[0]
