from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from rocm3d.model.toolchain import DetectedToolchain
from rocm3d.model.verdict import CompileResult, KernelFacts
from rocm3d.verify.compilation.build_script import DeclaredExtension
from rocm3d.verify.compilation.classify import CompileProblem
from rocm3d.verify.compilation.extensions import ScriptExtensions
from rocm3d.verify.compilation.session import CompileReport, UnitReport
from rocm3d.verify.compilation.translation_unit import TranslationUnit
from rocm3d.verify.compilation.verdicts import describe_problems, describe_side, report_verdicts
from rocm3d.verify.probe import Probe

ABOUT = DetectedToolchain(kind="wheels", title="a clang", hip="7.7.7", headers="mixed")
KIT = SimpleNamespace(compiler=SimpleNamespace(about=ABOUT), label="a clang, HIP 7.7.7 mixed headers")
PROBE = Probe("compile_extensions", "compile", lambda case: ())
UNIT = TranslationUnit("k.cu", "k.hip", "p._C", "hip", ())
KERNEL = KernelFacts(name="k", wave_size=64, vgprs=12, sgprs=8, lds_bytes=256)
SCRIPT = ScriptExtensions("setup.py", (DeclaredExtension("p._C", "setup.py", 1, "", ("k.cu",)),))


def report(*sides: CompileResult, problems=(), **more) -> CompileReport:
    units = (UnitReport(UNIT, {side.side: side for side in sides}, tuple(problems)),) if sides else ()
    values = {"scripts": (SCRIPT,), "flags": (), "units": units, "missing": (), "untranslated": {}, "hipify": "2.0.0"}
    return CompileReport(**{**values, **more})


def verdicts(*args, **kwargs):
    return list(report_verdicts(PROBE, report(*args, **kwargs), KIT))


def test_a_failed_side_fails_the_unit_with_positions_and_codes():
    problem = CompileProblem("k.cu", 3, 1, "expected expression", "CU301", "spaced_launch")

    _, unit = verdicts(
        CompileResult(side="gfx942", outcome="failed"),
        CompileResult(side="host", outcome="compiled"),
        problems=[problem],
    )

    assert unit.outcome == "failed"
    assert unit.reason == "k.cu (p._C), gfx942: k.cu:3:1: CU301 spaced_launch: expected expression"


def test_missing_headers_and_timeouts_are_not_run():
    _, missing_header = verdicts(CompileResult(side="gfx942", outcome="lacks", lacks="Eigen/Dense"))
    _, late = verdicts(CompileResult(side="gfx942", outcome="timed_out"))

    assert (missing_header.outcome, missing_header.reason) == (
        "not_run",
        "k.cu (p._C): header Eigen/Dense not found on this machine",
    )
    assert (late.outcome, late.reason) == ("not_run", "k.cu (p._C): the compiler was stopped at the time limit")


def test_a_script_fails_by_its_cuda_check_and_its_flags():
    gate, flag = (
        CompileProblem("setup.py", 17, 0, "no device code"),
        CompileProblem("setup.py", 67, 5, "clang does not accept -x"),
    )

    (script,) = verdicts(scripts=(ScriptExtensions("setup.py", SCRIPT.extensions, problem=gate),), flags=(flag,))

    assert script.outcome == "failed"
    assert script.reason == "setup.py:17: no device code; setup.py:67:5: clang does not accept -x"


def test_missing_and_untranslated_sources_are_not_run():
    result = verdicts(missing=("third_party/a.cu",), untranslated={"b.cu": "[error]"})

    assert [item.outcome for item in result] == ["passed", "not_run", "not_run"]
    assert "a submodule that is not checked out?" in result[1].reason


def test_a_passed_unit_lists_kernels_and_headers():
    _, unit = verdicts(
        CompileResult(
            side="gfx942", outcome="compiled", kernels=(KERNEL,), own_headers=("hipcub/hipcub.hpp",), given_headers=True
        ),
        CompileResult(side="host", outcome="compiled"),
    )

    assert unit.outcome == "passed"
    assert unit.looked_at == (
        "k.cu (p._C)",
        "gfx942: 1 kernel, wave 64, at most 12 VGPRs, 8 SGPRs, 256 bytes of LDS, no spills",
        "host: compiled",
        "headers: HIP 7.7.7 (mixed); ROCm libraries from --hip-headers (real); declared by rocm3d: hipcub",
    )


def test_spilling_and_empty_kernels_are_counted():
    worse = KERNEL.model_copy(update={"spills": 3, "empty": True})

    text = describe_side(CompileResult(side="gfx1100", outcome="compiled", kernels=(KERNEL, worse)))

    assert text.endswith("1 with register spills, 1 empty")
    assert describe_side(CompileResult(side="gfx1100", outcome="compiled")) == "gfx1100: compiled, no kernels"


def test_many_errors_are_cut():
    text = describe_problems(CompileProblem(str(Path("a.cu")), line, 1, "x") for line in range(1, 20))

    assert text.endswith("... and 11 more")
