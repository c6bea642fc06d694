from __future__ import annotations

import pytest

from rocm3d.model.verdict import CompileResult, Diagnostic, KernelFacts
from rocm3d.verify.compilation.cuda_session import CudaUnitResult
from rocm3d.verify.compilation.translation_unit import TranslationUnit
from rocm3d.verify.probe import UncheckedError
from rocm3d.verify.probes import compile_cuda
from rocm3d.verify.probes.compile_cuda import probe

UNIT = TranslationUnit("k.cu", "k.cu", "p._C", "hip", ())
COMPILED = CompileResult(side="nvcc", outcome="compiled", kernels=(KernelFacts(name="k"),), own_headers=("cusparse.h",))
FAILED = CompileResult(
    side="nvcc", outcome="failed", errors=(Diagnostic(path="k.cu", line=3, column=0, message='"y" is undefined'),)
)


@pytest.fixture
def unit_verdict(case, monkeypatch):
    def verdict(ported, original=None):
        def nvidia(_case, _kit, tree=None):
            side = ported if tree is None else original
            if isinstance(side, str):
                raise UncheckedError(side)
            return (CudaUnitResult(UNIT, side),)

        monkeypatch.setattr(compile_cuda, "find_case_kit", lambda _: object())
        monkeypatch.setattr(compile_cuda, "compile_with_nvcc", nvidia)
        (result,) = probe.attempt(case(changes=[("k.cu", b"old\n", b"new\n")]))
        return result

    return verdict


def test_without_nvcc_it_is_not_run(unit_verdict):
    verdict = unit_verdict("nvcc is not installed")

    assert (verdict.level, verdict.outcome, verdict.reason) == ("nvidia", "not_run", "nvcc is not installed")


def test_a_unit_that_the_port_broke_fails(unit_verdict):
    verdict = unit_verdict(FAILED, COMPILED)

    assert (verdict.outcome, verdict.reason) == ("failed", 'k.cu:3: "y" is undefined')
    assert verdict.subject == "k.cu (p._C)"


def test_a_unit_that_never_compiled_is_not_run(unit_verdict):
    verdict = unit_verdict(FAILED, FAILED)

    assert verdict.outcome == "not_run"
    assert "the original does not compile either" in verdict.reason


@pytest.mark.parametrize(
    ("side", "why"),
    [
        (CompileResult(side="nvcc", outcome="lacks", lacks="cudnn.h"), "header cudnn.h not found on this machine"),
        (CompileResult(side="nvcc", outcome="timed_out"), "nvcc was stopped: the time limit"),
    ],
)
def test_missing_headers_and_timeouts_are_not_run(unit_verdict, side, why):
    verdict = unit_verdict(side)

    assert (verdict.subject, verdict.reason) == ("k.cu (p._C)", why)


def test_a_unit_that_still_compiles_passes_and_lists_declared_headers(unit_verdict):
    verdict = unit_verdict(COMPILED)

    assert verdict.outcome == "passed"
    assert verdict.looked_at == ("nvcc: compiled, 1 kernel", "headers declared by rocm3d: cusparse.h")
