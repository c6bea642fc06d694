from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.model.inventory import UnscannedCode
from rocm3d.model.patch import SubmodulePatch
from rocm3d.render.html import PortReportView
from rocm3d.render.pull_request import render

EVIL = "<img src=x> @someone #1 | `x` [a](b)\x1b[31m"


@pytest.fixture
def report(make):
    def build(*decisions, repository="demo", change=None, **patch) -> PortReportView:
        built = make.patch(change or make.change()).model_copy(update=patch)
        plan = make.plan(*decisions, repository=repository)
        return PortReportView(make.scan(repository=repository), plan, built, make.verdicts(), make.evidence(repository))

    return build


def test_text_of_the_repository_is_shown_and_never_obeyed(make, report, knowledge):
    shown = report(make.decision(EVIL, "stub", EVIL), repository=EVIL, change=make.change(EVIL))
    text = render(shown, knowledge)
    assert "<img" not in text
    assert " @someone" not in text
    assert "\x1b" not in text
    assert "](b)" not in text.replace("\\](b)", "")


def test_a_failed_check_and_a_broken_seal_are_not_hidden(report, knowledge):
    text = render(replace(report(), moved=("plan.json",)), knowledge)
    assert "**Changed since it was sealed: `plan.json`.**" in text
    assert "static, `prove_isolation`: **failed**; the guard leaks" in text


def test_edits_that_no_guard_can_hold_are_named_at_the_top(make, report, knowledge):
    proof = make.change().proof.model_copy(update={"kind": "closed-list", "detail": "only a cast (1) differs"})
    text = render(report(change=make.change().model_copy(update={"proof": proof})), knowledge)
    assert "Exceptions, listed below: `csrc/a.cu`" in text.partition("## ")[0]
    assert "only a cast (1) differs" in text


def test_what_is_turned_off_comes_before_everything_else(make, report, knowledge):
    decided = (
        make.decision("gsplat", "stub", "a stand-in"),
        make.decision("spconv", "blocked", "no wave64"),
        make.decision("xformers", "drop", loses="sparse attention"),
    )
    text = render(report(*decided), knowledge)
    first = text.split("\n## ")[1]
    assert first.startswith("Limitations")
    for line in (
        "`spconv` cannot be installed for this GPU: no wave64",
        "`gsplat` (stub): a stand-in",
        "without sparse attention",
    ):
        assert line in first
    assert "`gsplat`: a stub never counts as verified." in text


def test_sections_stand_in_their_order_and_say_what_was_not_run(report, knowledge):
    text = render(report(), knowledge)
    titles = [part.partition("\n")[0] for part in text.split("\n## ")[1:]]
    assert titles == [
        "Limitations",
        "What changed, and why",
        "Proof",
        "What was not tested",
        "All findings",
    ]
    assert "None known" in text
    assert "Isolation: 1 of 1 edited files" in text
    assert "compile, `any`: not run; no compiler is here" in text
    assert "- State of the port: scanned ok, planned ok, edited failed, resolved 1 of 1, compiled not run" in text
    assert "Nothing was run on a GPU" in text


def test_submodules_and_what_was_not_scanned_are_reported(make, report, knowledge):
    inside = make.change("libs/knn/a.cu")
    module = SubmodulePatch(
        path="libs/knn", name="knn", commit="c", file="rocm-port/patches/knn@c.patch", changes=(inside,)
    )
    unscanned = UnscannedCode(
        name="libs/x", where=".gitmodules", reason="not checked out", commands=("git submodule update",)
    )
    view = report(modules=(module,))
    inventory = view.scan.inventory.model_copy(update={"unscanned": (unscanned,)})
    text = render(replace(view, scan=view.scan.model_copy(update={"inventory": inventory})), knowledge)
    assert "| `libs/knn/a.cu` by `rocm-port/patches/knn@c.patch` |" in text
    assert "2 files edited" in text
    assert "- Not scanned: `libs/x` (not checked out). To scan it:\n  - `git submodule update`" in text


def test_it_is_the_same_text_every_time(report, knowledge):
    assert render(report(), knowledge) == render(report(), knowledge)


def test_runs_are_proof_with_where_they_ran(make, report, knowledge):
    assert "Nothing was run on a GPU" in render(report(), knowledge)

    first = make.joined(make.run(status="failed", exit_code=1, reason=EVIL))
    text = render(replace(report(), runs=(first, make.joined(folder="train-2"))), knowledge)

    assert "- Run `train`, AMD Instinct MI300X (gfx942), torch 2.11 (HIP 7.1): Finished in 128.4 s." in text
    assert "Nothing was run on a GPU" not in text
    assert text.count("- Run ") == 1
