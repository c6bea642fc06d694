from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from rocm3d.model.toolchain import DetectedToolchain
from rocm3d.model.verdict import CompileResult, KernelFacts
from rocm3d.verify.compilation.build_script import DeclaredExtension
from rocm3d.verify.compilation.classify import CompileProblem
from rocm3d.verify.compilation.extensions import ScriptExtensions
from rocm3d.verify.compilation.session import CompileReport, UnitReport
from rocm3d.verify.compilation.translation_unit import TranslationUnit
from rocm3d.verify.compilation.verdicts import (
    VerdictContext,
    describe_problems,
    describe_side,
    report_verdicts,
    tasks_of,
)
from rocm3d.verify.probe import Probe

ABOUT = DetectedToolchain(kind="wheels", title="a clang", hip="7.7.7", headers="mixed", targets=("gfx942", "gfx1100"))
KIT = SimpleNamespace(compiler=SimpleNamespace(about=ABOUT), label="a clang, HIP 7.7.7 mixed headers")
PROBE = Probe("compile_extensions", "compile", lambda case: ())
UNIT = TranslationUnit("k.cu", "k.hip", "p._C", "hip", ())
KERNEL = KernelFacts(name="k", wave_size=64, vgprs=12, sgprs=8, lds_bytes=256)
SCRIPT = ScriptExtensions("setup.py", (DeclaredExtension("p._C", "setup.py", 1, "", ("k.cu",)),))


def report(*sides: CompileResult, problems=(), **more) -> CompileReport:
    by_side = {side.side: tuple(problems) if side.outcome == "failed" else () for side in sides}
    units = (UnitReport(UNIT, {side.side: side for side in sides}, by_side),) if sides else ()
    values = {"scripts": (SCRIPT,), "flags": (), "units": units, "missing": (), "untranslated": {}, "hipify": "2.0.0"}
    return CompileReport(**{**values, **more})


@pytest.fixture
def verdicts(knowledge):
    def make(*args, **kwargs):
        context = VerdictContext(PROBE, KIT, knowledge.codes, "the budget ended")
        return list(report_verdicts(report(*args, **kwargs), context))

    return make


def test_a_script_that_stops_and_shows_no_extension_is_not_run_rather_than_skipped(verdicts):
    stopped = ScriptExtensions("setup.py", (), note="setup.py was parsed, not run (OSError: x)", error="OSError: x")
    without = ScriptExtensions("setup.py", (), note="setup.py was parsed, not run (it declares no device source)")

    assert [item.outcome for item in verdicts(scripts=(stopped, without))] == ["not_run", "skipped"]


def test_a_failed_side_has_positions_codes_and_tasks(verdicts, knowledge):
    problem = CompileProblem("k.cu", 3, 1, "expected expression", "CU301", "spaced_launch")

    _, gfx942, host = verdicts(
        CompileResult(side="gfx942", outcome="failed"),
        CompileResult(side="host", outcome="compiled"),
        problems=[problem],
    )

    assert (gfx942.outcome, gfx942.subject, gfx942.target) == ("failed", "k.cu (p._C)", "gfx942")
    assert gfx942.reason == "k.cu:3:1: CU301 spaced_launch: expected expression"
    (task,) = gfx942.tasks
    assert (task.path, task.lines, task.code, task.rule) == ("k.cu", (3,), "CU301", "spaced_launch")
    assert task.action == knowledge.codes["CU301"].hint
    assert (host.outcome, host.tasks) == ("passed", ())


def test_the_same_error_on_several_lines_is_one_task(knowledge):
    problems = [CompileProblem("k.cu", line, 1, "use of undeclared identifier 'x'") for line in (7, 3)]

    (task,) = tasks_of(problems, knowledge.codes)

    assert (task.lines, task.code, task.reason) == ((3, 7), "", "use of undeclared identifier 'x'")
    assert task.action == "change it under `#if defined(USE_ROCM)`, then check with rocm3d verify . --level compile"


def test_a_rule_is_one_task_in_each_file(knowledge):
    problems = [
        CompileProblem("a.h", 3, 1, "'cuda_runtime.h' file not found", "CU506"),
        CompileProblem("a.h", 9, 1, "unknown type name 'cudaStream_t'", "CU506"),
        CompileProblem("b.cpp", 4, 1, "no matching function for call to 'f'"),
    ]

    (task,) = tasks_of(problems, knowledge.codes)

    assert (task.path, task.lines, task.code) == ("a.h", (3, 9), "CU506")
    assert task.reason == "'cuda_runtime.h' file not found; unknown type name 'cudaStream_t'"


@pytest.mark.parametrize(
    ("side", "reason"),
    [
        (
            CompileResult(side="gfx942", outcome="lacks", lacks="Eigen/Dense"),
            "header Eigen/Dense not found on this machine",
        ),
        (CompileResult(side="gfx942", outcome="timed_out"), "the compiler was stopped: the time limit"),
        (CompileResult(side="gfx942", outcome="timed_out", stopped="9 GB"), "the compiler was stopped: 9 GB"),
        (CompileResult(side="gfx942", outcome="cut_off"), "the budget ended"),
    ],
)
def test_what_was_not_compiled_to_its_end_is_not_run(verdicts, side, reason):
    _, unit = verdicts(side)

    assert (unit.outcome, unit.target, unit.reason) == ("not_run", "gfx942", reason)


def test_a_target_that_the_compiler_does_not_know_is_not_run(verdicts):
    first, *_ = verdicts(unsupported=("gfx1010",))

    assert (first.outcome, first.subject, first.target) == ("not_run", "", "gfx1010")
    assert first.reason == "a clang does not compile for this target, only for gfx942, gfx1100"


def test_sources_that_cmake_does_not_translate_are_a_task(verdicts):
    extension = DeclaredExtension("lib", "CMakeLists.txt", 1, "", ("k.cu", "plain.cu"), uses_torch=False)
    script = ScriptExtensions("CMakeLists.txt", (extension,), note="CMakeLists.txt was parsed, not run")

    (verdict,) = verdicts(scripts=(script,), translated=("k.cu", "k.cuh"))

    assert (verdict.outcome, verdict.subject) == ("failed", "CMakeLists.txt")
    assert [(task.path, task.effort) for task in verdict.tasks] == [("k.cu", "hours"), ("k.cuh", "hours")]
    assert "hipify-perl" in verdict.tasks[0].action


def test_sources_that_torch_translates_are_no_task(verdicts):
    (verdict,) = verdicts(translated=("k.cu",))

    assert verdict.outcome == "passed"


def test_a_script_fails_by_its_cuda_check_and_its_flags(verdicts):
    gate, flag = (
        CompileProblem("setup.py", 17, 0, "no device code"),
        CompileProblem("setup.py", 67, 5, "clang does not accept -x"),
    )

    (script,) = verdicts(scripts=(ScriptExtensions("setup.py", SCRIPT.extensions, problem=gate),), flags=(flag,))

    assert script.outcome == "failed"
    assert script.reason == "setup.py:17: no device code; setup.py:67:5: clang does not accept -x"
    assert [(task.path, task.lines) for task in script.tasks] == [("setup.py", (17,)), ("setup.py", (67,))]


def test_missing_and_untranslated_sources_are_not_run(verdicts):
    result = verdicts(missing=("third_party/a.cu",), untranslated={"b.cu": "[error]"})

    assert [item.outcome for item in result] == ["passed", "not_run", "not_run"]
    assert [item.subject for item in result] == ["setup.py", "third_party/a.cu", "b.cu"]
    assert "a submodule that is not checked out?" in result[1].reason


def test_a_passed_side_lists_kernels_and_headers(verdicts):
    _, unit, host = verdicts(
        CompileResult(
            side="gfx942", outcome="compiled", kernels=(KERNEL,), own_headers=("hipcub/hipcub.hpp",), given_headers=True
        ),
        CompileResult(side="host", outcome="compiled"),
    )

    assert unit.outcome == "passed"
    assert unit.looked_at == (
        "gfx942: 1 kernel, wave 64, at most 12 VGPRs, 8 SGPRs, 256 bytes of LDS, no spills",
        "headers: HIP 7.7.7 (mixed); ROCm libraries from --hip-headers (real); declared by rocm3d: hipcub",
    )
    assert (host.outcome, host.target, host.looked_at) == (
        "passed", "host", ("host: compiled", "headers: HIP 7.7.7 (mixed)"),
    )  # fmt: skip


def test_spilling_and_empty_kernels_are_counted():
    worse = KERNEL.model_copy(update={"spills": 3, "empty": True})

    text = describe_side(CompileResult(side="gfx1100", outcome="compiled", kernels=(KERNEL, worse)))

    assert text.endswith("1 with register spills, 1 empty")
    assert describe_side(CompileResult(side="gfx1100", outcome="compiled")) == "gfx1100: compiled, no kernels"


def test_many_errors_are_cut():
    text = describe_problems(CompileProblem(str(Path("a.cu")), line, 1, "x") for line in range(1, 20))

    assert text.endswith("... and 11 more")
