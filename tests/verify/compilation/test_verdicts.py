from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from rocm3d.model.compilation import KernelFacts, CompileResult
from rocm3d.model.toolchain import DetectedToolchain
from rocm3d.verify.compilation.classify import Problem
from rocm3d.verify.compilation.declared import Declared
from rocm3d.verify.compilation.extensions import Found
from rocm3d.verify.compilation.session import Report, UnitReport
from rocm3d.verify.compilation.unit import Unit
from rocm3d.verify.compilation.verdicts import of_report, shown, told

ABOUT = DetectedToolchain(kind="wheels", title="a clang", hip="7.7.7", headers="mixed")
KIT = SimpleNamespace(compiler=SimpleNamespace(about=ABOUT), label="a clang, HIP 7.7.7 mixed headers")
UNIT = Unit("k.cu", "k.hip", "p._C", "hip", ())
KERNEL = KernelFacts(name="k", wave_size=64, vgprs=12, sgprs=8, lds_bytes=256)
FOUND = Found("setup.py", (Declared("p._C", "setup.py", 1, "", ("k.cu",)),))


def report(*sides: CompileResult, problems=(), **more) -> Report:
    units = (UnitReport(UNIT, {side.side: side for side in sides}, tuple(problems)),) if sides else ()
    given = {"found": (FOUND,), "flags": (), "units": units, "missing": (), "untranslated": {}, "hipify": "2.0.0"}
    return Report(**{**given, **more})


def verdicts(*args, **kwargs):
    return list(of_report("compile_extensions", report(*args, **kwargs), KIT))


def test_a_failed_side_fails_the_unit_with_places_and_codes():
    problem = Problem("k.cu", 3, 1, "expected expression", "CU301", "spaced_launch")

    _, unit = verdicts(CompileResult(side="gfx942", outcome="failed"), CompileResult(side="host", outcome="compiled"), problems=[problem])

    assert unit.outcome == "failed"
    assert unit.reason == "k.cu (p._C), gfx942: k.cu:3:1: CU301 spaced_launch: expected expression"


def test_a_missing_header_and_time_are_no_failures():
    _, lacks = verdicts(CompileResult(side="gfx942", outcome="lacks", lacks="Eigen/Dense"))
    _, late = verdicts(CompileResult(side="gfx942", outcome="timed_out"))

    assert (lacks.outcome, lacks.reason) == ("not_run", "k.cu (p._C): header Eigen/Dense not found on this machine")
    assert (late.outcome, late.reason) == ("not_run", "k.cu (p._C): the compiler was stopped at the time limit")


def test_a_script_fails_by_its_gate_and_its_flags():
    gate, flag = Problem("setup.py", 17, 0, "no device code"), Problem("setup.py", 67, 5, "clang does not accept -x")

    (script,) = verdicts(found=(Found("setup.py", FOUND.extensions, problem=gate),), flags=(flag,))

    assert script.outcome == "failed"
    assert script.reason == "setup.py:17: no device code; setup.py:67:5: clang does not accept -x"


def test_what_could_not_be_looked_at_is_not_run():
    found = verdicts(missing=("third_party/a.cu",), untranslated={"b.cu": "[error]"})

    assert [item.outcome for item in found] == ["passed", "not_run", "not_run"]
    assert "a submodule that is not checked out?" in found[1].reason


def test_a_passed_unit_says_what_was_read_back_and_which_headers():
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


def test_spilling_and_empty_kernels_are_told():
    worse = KERNEL.model_copy(update={"spills": 3, "empty": True})

    text = shown(CompileResult(side="gfx1100", outcome="compiled", kernels=(KERNEL, worse)))

    assert text.endswith("1 with register spills, 1 empty")
    assert shown(CompileResult(side="gfx1100", outcome="compiled")) == "gfx1100: compiled, no kernels"


def test_many_errors_are_cut():
    text = told(Problem(str(Path("a.cu")), line, 1, "x") for line in range(1, 20))

    assert text.endswith("... and 11 more")
