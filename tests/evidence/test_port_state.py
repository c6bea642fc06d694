"""The state of a port: each rung, what makes it stale, and that it is never better than its worst input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.evidence.port_state import PortFacts, plan_digest, port_state
from rocm3d.evidence.verdict_merge import STALE
from rocm3d.model.evidence import SealedRun
from rocm3d.model.finding import Finding
from rocm3d.model.inventory import FileCounts, HiddenFindings, Inventory, Scan, UnscannedCode
from rocm3d.model.patch import FileChange, Patch, Proof, RefusedEdit
from rocm3d.model.plan import ChosenStack, DependencyDecision, Plan, PlannedEdit, UnresolvedFinding
from rocm3d.model.port_state import RUNGS, PortState, Rung
from rocm3d.model.target import Gpu
from rocm3d.model.task import PortTask
from rocm3d.model.verdict import NO_BACKEND_CHECK, Verdict, Verdicts
from rocm3d.verify.stage import LEVELS

GPU = Gpu(gfx="gfx942", product="mi300x", title="MI300X", wave_size=64, vram_gb=192)
NOW, BEFORE = "now", "before"
OF_LEVELS = ("resolved", "compiled", "imported", "ran", "judged")


def finding(path="a.cu", line=1, code="CU101", severity="error") -> Finding:
    return Finding(code=code, rule="r", severity=severity, path=path, line=line, column=1, message="m", hint="h")


def scan(unscanned=(), extensions=True, rules="") -> Scan:
    location = finding().location
    extension = {"name": "x", "how": "cmake", "sources": ("a.cu",), "location": location}
    inventory = Inventory(
        repository="r", counts=FileCounts(files=3, bytes=1, python=1, cuda=1, manifests=1), dependencies=(),
        extensions=(extension,) if extensions else (), families={}, skipped=(), readiness="ready", reasons=(),
        unscanned=tuple(unscanned), rules=rules,
    )  # fmt: skip
    return Scan(inventory=inventory, findings=())


def planned(path="a.cu", recipe="fix", **values) -> PlannedEdit:
    return PlannedEdit(
        recipe=recipe, rewrite="w", parameters={}, safety="safe", path=path, findings=(finding(path),), **values
    )


def decision(name, kind="keep") -> DependencyDecision:
    return DependencyDecision(name=name, package=name, decision=kind, route=None, reason="because")


def plan(*edits, decisions=(), stack=True, hidden=(), left=()) -> Plan:
    return Plan(
        repository="r", gpu=GPU, stack=ChosenStack(id="s", reason="r") if stack else None, base=None,
        rejected_stacks=(), decisions=tuple(decisions), edits=edits, answered=(), left=left, readiness="ready",
        hidden=tuple(hidden), knowledge_date="2026-11-15",
    )  # fmt: skip


def patch(refused=(), left=(), tasks=(), holds=True, dry_run=False, of=None, tree=NOW) -> Patch:
    proof = Proof(kind="cpp-tokens-equal", holds=holds, detail="detail")
    change = FileChange(
        path="a.cu", kind="edited", before="0" * 64, after="1" * 64, recipes=("fix",), proof=proof, diff=""
    )
    return Patch(
        repository="r", folder="rocm-port", dry_run=dry_run, changes=(change,), refused=tuple(refused),
        left=tuple(left), tasks=tuple(tasks), plan="" if of is None else plan_digest(of), tree=tree,
    )  # fmt: skip


def refusal(path="a.cu", recipe="fix", kind="task", reason="no") -> RefusedEdit:
    return RefusedEdit(path=path, recipe=recipe, reason=reason, kind=kind, places=(f"{path}:1:1",))


def verdict(level, outcome="passed", subject="", target="", tree=NOW, probe="", **values) -> Verdict:
    default = {"compile": "compile_extensions", "workload": "judge_runs"}.get(level, "p")
    reason = "" if outcome == "passed" else f"why {level} {outcome}"
    checked = (subject or "x",) if outcome == "passed" else ()
    fields = {"reason": reason, "looked_at": checked, **values}
    return Verdict(
        level=level, probe=probe or default, outcome=outcome, subject=subject, target=target, tree=tree, **fields
    )


def verdicts(*items, targets=("gfx942", "gfx1100")) -> Verdicts:
    return Verdicts(repository="r", targets=targets, verdicts=items)


def state(*items, tree=NOW, **facts) -> PortState:
    values = {"scan": scan(), "plan": plan(), "patch": patch(), **facts}
    return port_state(PortFacts(tree, verdicts=verdicts(*items), **values))


def rung(name, *items, **facts) -> Rung:
    return state(*items, **facts).rung(name)


def test_without_documents_nothing_is_claimed_and_the_first_command_is_named():
    nothing = port_state(PortFacts(NOW))

    assert {item.outcome for item in nothing.rungs} == {"not_run"}
    assert [item.next for item in nothing.rungs] == [
        "rocm3d scan .",
        "rocm3d plan . --gpu GPU",
        "rocm3d apply .",
        "rocm3d verify . --level resolve",
        "rocm3d verify . --level compile",
        "rocm3d verify . --level import --python PYTHON",
        "rocm3d run -- CMD ...",
        "rocm3d run -- CMD ...",
    ]
    assert (nothing.next, nothing.current.name) == ("rocm3d scan .", "scanned")


def test_everything_complete():
    items = (
        *(verdict(level) for level in LEVELS),
        verdict("workload", probe="evaluate_results"),
    )

    assert {item.outcome for item in state(*items).rungs} == {"complete"}
    assert state(*items).is_complete
    assert (state(*items).current, state(*items).next) == (None, "")


# scanned


def test_what_was_not_scanned_is_named_with_its_first_command():
    module = UnscannedCode(name="libs/knn", where=".gitmodules", reason="not checked out", commands=("git x", "y"))
    scanned = rung("scanned", scan=scan([module]))

    assert (scanned.outcome, scanned.done, scanned.total) == ("partial", 3, 4)
    assert scanned.open_items == ("libs/knn (not checked out)",)
    assert scanned.next == "git x"


def test_a_scan_with_some_rules_is_partial():
    assert rung("scanned", scan=scan(rules="--only CU")).outcome == "partial"


# planned


@pytest.mark.parametrize(
    ("facts", "items"),
    [({"stack": False}, ()), ({"decisions": [decision("b", "blocked"), decision("a", "blocked")]}, ("a", "b"))],
)
def test_no_stack_or_no_route_fails_the_plan(facts, items):
    result = state(plan=plan(**facts))

    assert (result.rung("planned").outcome, result.rung("planned").open_items) == ("failed", items)
    assert result.blocked == items
    assert not result.reaches("planned")


# edited


def test_edits_that_were_left_out_are_named():
    edits = plan(planned(), planned("b.cu"), planned("c.cu"))
    edited = rung("edited", plan=edits, patch=patch([refusal("b.cu", kind="left_out", reason="--safe-only")]))

    assert (edited.outcome, edited.done, edited.total) == ("partial", 2, 3)
    assert edited.open_items == ("b.cu fix",)
    assert (edited.reason, edited.next) == ("--safe-only", "rocm3d apply .")


def test_edits_that_were_declined_lead_to_the_review():
    refused = [refusal(kind="left_out", reason="you left it out in rocm3d review")]

    assert rung("edited", plan=plan(planned()), patch=patch(refused)).next == "rocm3d review ."


@pytest.mark.parametrize("kind", ["task", "not_needed"])
def test_an_edit_that_cannot_be_made_is_no_edit(kind):
    edits = plan(planned(), planned("b.cu"))
    edited = rung("edited", plan=edits, patch=patch([refusal("b.cu", kind=kind)], of=edits))

    assert (edited.outcome, edited.total) == ("complete", 1)


def test_findings_that_the_repository_hides_leave_it_partial():
    edited = rung("edited", plan=plan(hidden=[HiddenFindings(source="rocm3d.toml", errors=2)]))

    assert (edited.outcome, edited.next) == ("partial", "rocm3d port . --gpu mi300x --isolated")
    assert rung("edited", plan=plan(hidden=[HiddenFindings(source="comments", notes=2)])).outcome == "complete"


@pytest.mark.parametrize("level", ["static", "nvidia"])
def test_a_proof_or_a_check_that_fails_is_a_failure(level):
    assert rung("edited", patch=patch(holds=False)).outcome == "failed"
    assert rung("edited", verdict(level, "failed"), verdict("static")).outcome == "failed"


def test_a_dry_run_made_no_edit():
    assert (rung("edited", patch=patch(dry_run=True)).outcome, rung("edited", patch=None).outcome) == (
        "not_run",
        "not_run",
    )


def test_a_patch_of_another_plan_counts_for_nothing():
    assert rung("edited", plan=plan(), patch=patch(of=plan())).outcome == "complete"
    assert rung("edited", plan=plan(planned()), patch=patch(of=plan())).reason.startswith("the plan has changed")


def test_files_that_have_changed_since_are_checked_again():
    changed = rung("edited", tree="later")

    assert (changed.outcome, changed.next) == ("not_run", "rocm3d verify . --level static")
    assert rung("edited", verdict("static", tree="later"), tree="later").outcome == "complete"
    assert rung("edited", verdict("static", "not_run", tree="later"), tree="later").outcome == "not_run"


# tasks


TASK = PortTask(path="a.cu", lines=(1,), code="CU101", reason="r", action="a")


def test_tasks_are_counted_separately_from_the_rungs():
    result = state(verdict("compile"), patch=patch(tasks=[TASK], of=plan()))

    assert (result.rung("edited").outcome, result.tasks) == ("complete", 1)
    assert not result.reaches("compiled")
    assert result.reaches("planned")
    assert result.next == "rocm3d report . --format markdown"


def test_one_rule_in_one_file_is_one_task_whoever_reports_it():
    again = TASK.model_copy(update={"lines": (7,), "reason": "another line"})
    unknown = PortTask(path="a.cu", reason="no rule", action="a")
    sides = [verdict("compile", "failed", "a.cu", gfx, tasks=(again, unknown)) for gfx in ("gfx942", "gfx1100")]

    assert state(*sides, patch=patch(tasks=[TASK], of=plan())).tasks == 2


def test_before_apply_the_plan_says_what_is_left():
    left = tuple(UnresolvedFinding(finding=finding(code=code), reason="r") for code in ("CU101", "CU102"))

    assert state(patch=None, plan=plan(left=left)).tasks == 2


def test_a_patch_without_tasks_of_an_earlier_version_is_not_without_work():
    left = [UnresolvedFinding(finding=finding(), reason="r")]

    assert state(patch=patch([refusal(), refusal("b.cu", kind="left_out")], left)).tasks == 2


def test_tasks_of_compile_errors_count_until_the_files_change():
    failed = verdict("compile", "failed", "a.cu", tasks=(TASK,))

    assert state(failed).tasks == 1
    assert state(failed, tree="later").tasks == 0


# compiled


def test_units_are_counted_by_their_worst_target():
    compiled = rung(
        "compiled",
        verdict("compile", subject="a.cu", target="gfx942"),
        verdict("compile", "failed", "a.cu", "gfx1100"),
        verdict("compile", subject="b.cu", target="gfx942"),
        verdict("compile", subject="c.cpp", target="host"),
    )

    assert (compiled.outcome, compiled.done, compiled.total) == ("failed", 2, 3)
    assert compiled.open_items == ("a.cu for gfx1100",)
    assert compiled.next == "rocm3d report . --format markdown"


def test_build_scripts_are_no_units_but_may_fail():
    unit = verdict("compile", subject="a.cu", target="gfx942")

    assert rung("compiled", unit, verdict("compile", subject="setup.py")).total == 1
    assert rung("compiled", unit, verdict("compile", "failed", "setup.py")).open_items == ("setup.py",)


def test_verdicts_without_subject_and_target_are_counted_too():
    compiled = rung("compiled", verdict("compile", looked_at=("a.cu",)), verdict("compile", "not_run", reason="slow"))

    assert (compiled.outcome, compiled.done, compiled.total, compiled.reason) == ("partial", 1, 2, "slow")


@pytest.mark.parametrize(
    ("item", "targets"),
    [
        (verdict("compile", subject="a.cu", target="gfx1100"), ("gfx942", "gfx1100")),
        (verdict("compile", looked_at=("a.cu",)), ("gfx1100",)),
    ],
)
def test_what_was_compiled_for_other_targets_only_is_open(item, targets):
    facts = PortFacts(NOW, scan(), plan(), patch(), verdicts(item, targets=targets))
    compiled = port_state(facts).rung("compiled")

    assert compiled.outcome != "complete"
    assert "not compiled for gfx942, only for gfx1100" in compiled.reason


def test_it_does_not_apply_only_if_scan_and_probe_found_no_native_code():
    skipped = verdict("compile", "skipped", reason="no native extension")

    partly = scan(unscanned=[UnscannedCode(name="a", where="b", reason="c")], extensions=False)
    assert rung("compiled", skipped, scan=scan(extensions=False)).outcome == "not_applicable"
    assert rung("compiled", skipped, scan=partly).outcome == "not_run"
    assert rung("compiled", skipped).outcome == "not_run"
    assert rung("compiled", scan=scan(extensions=False)).outcome == "not_run"
    assert rung("compiled", skipped, scan=None).outcome == "not_run"
    assert rung("compiled", skipped, scan=scan(extensions=False), tree="later").outcome == "not_run"


def test_kernels_that_nobody_compared_do_not_hold_it_up_but_different_ones_do():
    unit = verdict("compile", subject="a.cu", target="gfx942")

    for outcome, expected in (("not_run", "complete"), ("passed", "complete"), ("failed", "failed")):
        assert rung("compiled", unit, verdict("compile", outcome, probe="match_kernels")).outcome == expected
    assert rung("compiled", verdict("compile", probe="match_kernels")).outcome == "not_run"


def test_without_a_toolchain_the_command_that_prepares_one_is_named():
    lacking = verdict("compile", "not_run", reason="no compiler. Run rocm3d toolchain prepare (80 s)")

    assert rung("compiled", lacking).next == "rocm3d toolchain prepare"


# resolved, imported


def test_what_the_original_would_install_shows_nothing():
    original = verdict("resolve", probe="resolve_original")

    assert rung("resolved", original).outcome == "not_run"
    assert rung("resolved", original, verdict("resolve", "skipped")).outcome == "not_applicable"


def test_what_a_stub_shows_never_counts():
    stubbed = plan(decisions=[decision("gsplat", "stub")])
    items = (verdict("import", subject="torch"), verdict("import", subject="gsplat"))
    result = state(*items, plan=stubbed)

    assert (result.rung("imported").done, result.stubs) == (1, ("gsplat",))
    assert rung("imported", items[1], plan=stubbed).outcome == "not_run"
    assert rung("imported", verdict("import", "failed", "gsplat"), plan=stubbed).outcome == "failed"


# ran, judged


RAN = verdict("workload", subject="runs/a")
RESULT = verdict("workload", subject="runs/a", probe="evaluate_results")


def test_a_workload_alone_or_operations_alone_are_partial():
    assert rung("ran", verdict("backend"), RAN).outcome == "complete"
    assert (rung("ran", RAN).outcome, rung("ran", RAN).next) == (
        "partial",
        "rocm3d verify . --level backend --python PYTHON",
    )
    assert (rung("ran", verdict("backend")).outcome, rung("ran", verdict("backend")).next) == (
        "partial",
        "rocm3d run -- CMD ...",
    )


def test_packages_without_a_check_hold_nothing_up():
    unknown = verdict("backend", "not_run", reason=f"{NO_BACKEND_CHECK}: tqdm")

    assert rung("ran", unknown, verdict("backend"), RAN).outcome == "complete"
    assert rung("ran", unknown).outcome == "not_run"


def test_another_gpu_shows_nothing_about_the_planned_one():
    other = verdict("backend", subject="torch", target="gfx1100")

    assert rung("ran", other, RAN).outcome == "partial"
    assert rung("ran", other, verdict("backend", subject="torch", target="gfx942"), RAN).outcome == "complete"
    assert rung("judged", verdict("numerics", target="gfx1100")).outcome == "not_run"


def test_results_count_separately_from_the_run():
    bad = verdict("workload", "failed", "runs/a", probe="evaluate_results")

    assert rung("judged", verdict("numerics"), RAN, RESULT).outcome == "complete"
    assert rung("judged", verdict("numerics"), RAN, bad).outcome == "failed"
    assert rung("ran", verdict("backend"), RAN, bad).outcome == "complete"


@pytest.mark.parametrize("outcome", ["failed", "not_run"])
def test_a_run_without_a_result_shows_no_result(outcome):
    assert rung("judged", verdict("workload", outcome, "runs/a")).outcome == "not_run"


def sealed(folder, outcome="finished", of_these_sources=True, name="train") -> SealedRun:
    return SealedRun(folder=folder, outcome=outcome, of_these_sources=of_these_sources, name=name, reason="r")


@pytest.mark.parametrize(
    ("runs", "outcome"),
    [
        ([sealed("a")], "complete"),
        ([sealed("a"), sealed("b")], "partial"),
        ([sealed("a"), sealed("b", "failed")], "failed"),
        ([sealed("b", "failed"), sealed("a")], "complete"),
        ([sealed("a"), sealed("b", "failed", False)], "complete"),
        ([sealed("a"), sealed("b", "failed", None)], "complete"),
        ([sealed("a", "altered")], "failed"),
        ([sealed("a"), sealed("b", "unread", None, "")], "partial"),
    ],
)
def test_runs_that_no_check_covers_count(runs, outcome):
    assert rung("ran", verdict("backend"), RAN, runs=tuple(runs)).outcome == outcome


def test_a_run_recorded_after_the_last_check_has_to_be_checked():
    result = state(verdict("backend"), runs=(sealed("a"),))

    assert result.rung("ran").next == result.rung("judged").next == "rocm3d verify . --level workload"


# what this machine can do


def test_the_next_command_is_one_that_this_machine_can_run():
    done = (verdict("compile"), verdict("resolve"))

    assert (state(*done).current.name, state(*done).next) == ("imported", "")
    assert state(*done, has_gpu=True).next == "rocm3d verify . --level import --python PYTHON"
    assert state(verdict("resolve")).next == "rocm3d verify . --level compile"
    assert state(verdict("compile")).next == "rocm3d verify . --level resolve"


# properties


ITEMS = st.builds(
    verdict,
    st.sampled_from(LEVELS),
    st.sampled_from(["passed", "failed", "not_run", "skipped"]),
    st.sampled_from(["", "a.cu", "b.cu", "torch", "gsplat", "runs/a"]),
    st.sampled_from(["", "host", "gfx942", "gfx1100"]),
    st.sampled_from([NOW, NOW, BEFORE]),
    st.sampled_from(["", "match_kernels", "evaluate_results", "resolve_original"]),
)
STUBBED = plan(planned(), decisions=[decision("gsplat", "stub")])
RANK = {"failed": 0, "not_run": 1, "partial": 2, "complete": 3, "not_applicable": 3}


@given(st.lists(ITEMS, max_size=12), st.randoms(use_true_random=False))
def test_any_order_of_the_same_verdicts_gives_the_same_state(items, shuffle):
    mixed = list(items)
    shuffle.shuffle(mixed)

    assert state(*items, plan=STUBBED) == state(*mixed, plan=STUBBED)


@given(st.lists(ITEMS, max_size=12), st.booleans())
def test_an_edit_after_a_verdict_makes_it_stale(items, extensions):
    """Nothing that a verdict showed is left, and every rung says why."""
    before, after = state(*items), state(*items, tree="later", scan=scan(extensions=extensions))

    assert {item.outcome for item in after.rungs if item.name in ("edited", *OF_LEVELS)} == {"not_run"}
    for name in OF_LEVELS:
        if before.rung(name).outcome == "complete":
            assert STALE in after.rung(name).reason
    assert not after.reaches("compiled")


@given(st.lists(ITEMS, min_size=1, max_size=12), st.data())
def test_a_worse_verdict_never_makes_a_better_state(items, data):
    at = data.draw(st.integers(0, len(items) - 1))
    better = items[at]
    worse = data.draw(
        st.sampled_from({"passed": ["failed", "not_run"], "not_run": ["failed"]}.get(better.outcome, [""]))
    )
    if not worse:
        return
    changed = better.model_copy(update={"outcome": worse, "reason": f"why {worse}", "looked_at": ()})
    before, after = state(*items), state(*items[:at], changed, *items[at + 1 :])

    for name in RUNGS:
        assert RANK[after.rung(name).outcome] <= RANK[before.rung(name).outcome], name


@given(st.lists(ITEMS, max_size=12))
def test_no_rung_is_better_than_its_worst_verdict(items):
    """Complete: every verdict that counts for it passed. Not failed: none of them failed."""
    result = state(*items, plan=STUBBED)
    current = [item for item in items if item.tree == NOW]
    of_rungs = {
        "resolved": [item for item in current if item.level == "resolve" and item.probe != "resolve_original"],
        "compiled": [item for item in current if item.level == "compile" and item.probe != "match_kernels"],
        "imported": [item for item in current if item.level == "import"],
        "ran": [
            item
            for item in current
            if (item.level == "backend" and item.target in ("", "gfx942"))
            or (item.level, item.probe) == ("workload", "judge_runs")
        ],
    }
    for name, counted in of_rungs.items():
        outcomes = {item.outcome for item in counted}
        if result.rung(name).outcome == "complete":
            assert outcomes <= {"passed", "skipped"}
            assert "passed" in outcomes
        if "failed" in outcomes:
            assert result.rung(name).outcome == "failed"
    assert (result.current is None) == (not any(item.is_open for item in result.rungs))
    assert not (
        result.is_complete and any(item.outcome in ("failed", "not_run") for item in current if item.level == "static")
    )
