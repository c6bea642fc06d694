from __future__ import annotations

from dataclasses import replace

import pytest

from rocm3d.model.patch import RefusedEdit
from rocm3d.model.plan import PlannedEdit, UnresolvedFinding
from rocm3d.render.finding_outcomes import finding_outcomes
from rocm3d.render.html import PortReportView


@pytest.fixture
def report(make):
    """A plan with one edit of two findings, one addition and one note; parts can be replaced."""

    def build(recipes=("header",), refused=(), left=(), edits=True) -> PortReportView:
        result = (make.finding(line=2), make.finding(line=9))
        edit = PlannedEdit(
            recipe="header", rewrite="r", parameters={}, safety="safe", path="csrc/a.cu", findings=result
        )
        note = make.finding(path="README.md", code="DEP202", rule="pull", severity="note")
        pin = make.finding(path="req.txt", code="DEP101", rule="cuda_pin", package="torch")
        plan = make.plan(make.decision("torch", "drop")).model_copy(
            update={"edits": (edit,) if edits else (), "answered": (pin,)}
        )
        change = make.change().model_copy(update={"recipes": recipes})
        patch = make.patch(change).model_copy(
            update={
                "refused": tuple(RefusedEdit(path="csrc/a.cu", recipe="header", reason=reason) for reason in refused),
                "left": tuple(UnresolvedFinding(finding=entry, reason="no reach") for entry in left),
            }
        )
        return PortReportView(make.scan(note, pin, *result), plan, patch, make.verdicts(), make.evidence())

    return build


def outcomes(report, knowledge):
    return {(entry.outcome, entry.location): entry.how for entry in finding_outcomes(report, knowledge)}


def test_a_refused_edit_gives_the_reason(report, knowledge):
    assert outcomes(report(recipes=(), refused=["in a macro"]), knowledge)["left for a person", "csrc/a.cu:2,9"] == (
        "header: in a macro"
    )


@pytest.mark.parametrize(
    ("refused", "outcome"), [((), "edited"), (["wants a look"], "additive")], ids=["made", "refused"]
)
def test_an_edit_next_to_another_resolution_is_reported_if_it_was_made(make, report, knowledge, refused, outcome):
    arguments = report(recipes=("header",) if not refused else (), refused=refused)
    plan = arguments.plan.model_copy(update={"answered": arguments.plan.edits[0].findings})
    result = finding_outcomes(replace(arguments, plan=plan), knowledge)

    assert [(entry.outcome, entry.location) for entry in result if entry.path == "csrc/a.cu"] == [
        (outcome, "csrc/a.cu:2,9")
    ]


def test_what_an_edit_does_not_reach_is_left_and_reported_with_the_edit(make, report, knowledge):
    result = outcomes(report(left=[make.finding(line=11)]), knowledge)
    assert result["left for a person", "csrc/a.cu:11"] == "no reach: close it"
    assert result["edited", "csrc/a.cu:2,9"] == "header; other forms in this file are left"


def test_an_edit_that_changed_nothing_and_left_everything_is_no_edit(make, report, knowledge):
    result = outcomes(report(recipes=(), left=[make.finding(line=2), make.finding(line=9)]), knowledge)
    assert ("left for a person", "csrc/a.cu:2,9") in result
    assert not [where for outcome, where in result if outcome == "edited"]


def test_edits_additions_and_notes_are_distinguished(report, knowledge):
    assert outcomes(report(), knowledge) == {
        ("edited", "csrc/a.cu:2,9"): "header",
        ("additive", "req.txt:2"): "torch: drop, r, in rocm-port/install.sh",
        ("no change needed", "README.md:2"): "a note",
    }


def test_a_finding_that_another_edit_answered_counts_as_edited(report, knowledge):
    how = outcomes(report(recipes=("other",)), knowledge)["edited", "csrc/a.cu:2,9"]
    assert how == "header, by another edit of the file"
