from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.model.finding import Finding, Location
from rocm3d.model.inventory import Dependency
from rocm3d.scan.stage import readiness


def finding(code: str, rule: str, severity: str = "error") -> Finding:
    return Finding(code=code, rule=rule, severity=severity, path="a", line=1, column=1, message="m", hint="h")


def dependency(name: str, package: str | None) -> Dependency:
    return Dependency(name=name, requirement=name, location=Location(path="r", line=1, column=1), package=package)


def test_ready_without_findings(known):
    assert readiness([], [], known) == ("ready", ("no CUDA-specific code or dependency found",))


def test_ready_with_only_notes(known):
    assert readiness([finding("CU301", "spaced_launch", "note")], [], known)[0] == "ready"


def test_ready_with_deps_names_the_packages(known):
    result = [finding("DEP201", "cuda_only_package")]
    named = [dependency("gsplat", "gsplat"), dependency("numpy", None), dependency("flash_attn", "flash-attn")]

    assert readiness(result, named, known) == (
        "ready-with-deps",
        ("flash-attn must be installed from another source", "gsplat must be installed from another source"),
    )


def test_ready_with_deps_for_an_index_alone(known):
    reasons = ("install commands request CUDA builds",)

    assert readiness([finding("DEP102", "cuda_index")], [], known) == ("ready-with-deps", reasons)


@pytest.mark.parametrize(("code", "rule"), [("CU301", "spaced_launch"), ("PY101", "flash_attention_required")])
def test_needs_edits_counts_by_rule(known, code, rule):
    result = [finding(code, rule), finding(code, rule), finding("DEP101", "cuda_pin")]

    assert readiness(result, [], known) == ("needs-edits", (f"{rule}: 2",))


def test_an_algorithm_that_has_to_change_is_a_rewrite(known):
    assert known.codes["CU402"].effort == "rewrite"
    result = [finding("CU402", "cutlass"), finding("CU402", "cutlass"), finding("CU301", "spaced_launch")]

    assert readiness(result, [], known) == ("rewrite", ("cutlass: 2",))


def test_a_rewrite_in_a_test_or_an_example_is_none(known):
    assert readiness([finding("CU402", "cutlass", "note")], [], known)[0] == "ready"


def test_blocked_when_a_package_has_no_route(known, make_package):
    packages = {**known.packages, "dead": make_package("dead", "dead", "blocked")}
    result = [finding("CU301", "spaced_launch")]

    state, reasons = readiness(result, [dependency("dead", "dead")], replace(known, packages=packages))

    assert (state, reasons) == ("blocked", ("dead has no route to ROCm",))


def test_a_package_of_an_example_does_not_block(known, make_package):
    packages = {**known.packages, "dead": make_package("dead", "dead", "blocked")}
    auxiliary = dependency("dead", "dead").model_copy(
        update={"location": Location(path="examples/r.txt", line=1, column=1)}
    )

    assert readiness([], [auxiliary], replace(known, packages=packages))[0] == "ready"


@pytest.mark.parametrize(("severity", "state"), [("error", "blocked"), ("warning", "blocked"), ("note", "ready")])
def test_route_unless_imported_does_not_help_importing_program(known, make_package, severity, state):
    lone = make_package("lone", "lone", "drop")
    lone = lone.model_copy(update={"routes": (lone.routes[0].model_copy(update={"unless_imported": True}),)})
    result = finding("PY103", "cuda_only_import", severity).model_copy(update={"package": "lone"})

    assert readiness([result], [dependency("lone", "lone")], replace(known, packages={"lone": lone}))[0] == state


@pytest.mark.parametrize(
    ("code", "rule"),
    [("BLD303", "nvidia_base_image"), ("BLD304", "build_isolation"), ("PY207", "alloc_conf"), ("DEP105", "conda_cuda")],
)
def test_environment_findings_need_no_edit(known, code, rule):
    assert readiness([finding(code, rule)], [], known)[0] == "ready-with-deps"


@pytest.mark.parametrize(("severity", "state"), [("warning", "ready-with-deps"), ("error", "needs-edits")])
def test_import_needs_edit_without_route_for_its_name(known, severity, state):
    assert readiness([finding("PY103", "cuda_only_import", severity)], [], known)[0] == state


def test_inactive_routes_do_not_count(known, make_package):
    dead = make_package("dead", "dead")
    dead = dead.model_copy(update={"routes": (dead.routes[0].model_copy(update={"status": "refuted"}),)})

    state, _ = readiness([], [dependency("dead", "dead")], replace(known, packages={"dead": dead}))

    assert state == "blocked"
