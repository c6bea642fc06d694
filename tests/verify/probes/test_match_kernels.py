from __future__ import annotations

import pytest

from rocm3d.model.compilation import KernelFacts, CompileResult
from rocm3d.verify.compilation.cuda_session import CudaUnit
from rocm3d.verify.compilation.session import Report, UnitReport
from rocm3d.verify.compilation.unit import Unit
from rocm3d.verify.probes import match_kernels
from rocm3d.verify.probes.match_kernels import attempt

UNIT = Unit("k.cu", "k.hip", "p._C", "hip", ())


def side(name="gfx942", outcome="compiled", kernels=("_Z1kPf",), empty=(), **more) -> CompileResult:
    facts = tuple(KernelFacts(name=item, empty=item in empty) for item in kernels)
    return CompileResult(side=name, outcome=outcome, kernels=facts, **more)


@pytest.fixture
def matched(case, monkeypatch):
    """The verdict on one unit with these results of both compilers."""

    def verdict(ours: CompileResult, theirs):
        report = Report((), (), (UnitReport(UNIT, {ours.side: ours}, ()),), (), {}, "2.0.0")
        monkeypatch.setattr(match_kernels, "kit_of", lambda _: object())
        monkeypatch.setattr(match_kernels, "amd", lambda *_: report)
        found = theirs if isinstance(theirs, str) else (CudaUnit(UNIT, theirs),) if theirs else ()
        monkeypatch.setattr(match_kernels, "nvidia", lambda *_, **__: found)
        (found,) = attempt(case())
        return found

    return verdict


def test_without_nvcc_there_is_nothing_to_compare_with(matched):
    verdict = matched(side(), "nvcc is not installed")

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
def test_what_one_of_them_did_not_take_is_not_run(matched, ours, theirs, why):
    verdict = matched(ours, theirs)

    assert (verdict.outcome, verdict.reason) == ("not_run", f"k.cu: {why}")


def test_a_kernel_that_vanished_fails(matched):
    verdict = matched(side(kernels=()), side("nvcc"))

    assert (verdict.outcome, verdict.reason) == (
        "failed",
        "k.cu: gfx942: k: missing, or fewer instantiations than in the CUDA build",
    )


def test_a_kernel_that_does_nothing_any_more_fails(matched):
    verdict = matched(side(empty=("_Z1kPf",)), side("nvcc"))

    assert verdict.outcome == "failed"
    assert "empty, but not empty in the CUDA build" in verdict.reason


def test_the_same_kernels_pass(matched):
    verdict = matched(side(), side("nvcc"))

    assert verdict.outcome == "passed"
    assert "kernels in both builds: 1" in verdict.looked_at[0]
