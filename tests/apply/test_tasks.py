from __future__ import annotations

import pytest

from rocm3d.apply.tasks import EditedFiles, grouped_tasks, open_findings, remaining_findings, settled_refusals
from rocm3d.model.finding import Finding
from rocm3d.model.inventory import FileCounts, Inventory, Scan, SkippedFile
from rocm3d.model.patch import Patch, RefusedEdit
from rocm3d.model.plan import UnresolvedFinding


def finding_at(path="a.cu", line=2, code="CU101", severity="error", hint="use a wide mask") -> Finding:
    return Finding(
        code=code, rule="lane_mask_32bit", severity=severity, path=path, line=line, column=1, message="m", hint=hint
    )


def scan(*findings: Finding, skipped=()) -> Scan:
    inventory = Inventory(
        repository="r",
        counts=FileCounts(files=1, bytes=1, python=0, cuda=1, manifests=0),
        dependencies=(),
        extensions=(),
        families={},
        skipped=tuple(SkippedFile(path=path, reason="odd") for path in skipped),
        readiness="needs-edits",
        reasons=("x",),
    )
    return Scan(inventory=inventory, findings=findings)


def planned(edit, *findings: Finding):
    return edit("drop_lane_mask", findings[0].path).model_copy(update={"findings": findings})


def refused(kind="task", path="a.cu", reason="inside a macro") -> RefusedEdit:
    return RefusedEdit(path=path, recipe="drop-lane-mask", reason=reason, kind=kind)


UNEDITED = EditedFiles({}, {}, scan())


def tasks(knowledge, plan, refusals=(), remaining=(), files=UNEDITED):
    return grouped_tasks(open_findings(plan, refusals, remaining, files), knowledge)


# What is no task.


def test_a_note_is_no_task(knowledge, make_plan, make_edit):
    note = finding_at(severity="note")
    plan = make_plan(planned(make_edit, note), left=(UnresolvedFinding(finding=note, reason="no recipe"),))

    assert tasks(knowledge, plan, [refused()]) == ()


@pytest.mark.parametrize("kind", ["left_out", "not_needed"])
def test_an_edit_that_was_left_out_or_is_not_needed_is_no_task(knowledge, make_plan, make_edit, kind):
    assert tasks(knowledge, make_plan(planned(make_edit, finding_at())), [refused(kind)]) == ()


def test_a_finding_that_an_added_file_resolves_is_no_task(knowledge, make_plan, make_edit):
    plan = make_plan(planned(make_edit, finding_at()), answered=(finding_at(),))

    assert tasks(knowledge, plan, [refused()]) == ()


def test_a_finding_that_another_edit_resolved_is_no_task(knowledge, make_plan, make_edit):
    plan = make_plan(planned(make_edit, finding_at()))

    assert tasks(knowledge, plan, [refused()], files=EditedFiles({"a.cu": b"a"}, {"a.cu": b"b"}, scan())) == ()
    for files in (
        EditedFiles({}, {}, scan()),  # not edited, so not scanned again with other text
        EditedFiles({"a.cu": b"a"}, {"a.cu": b"b"}, scan(finding_at(line=9))),
        EditedFiles({"a.cu": b"a"}, {"a.cu": b"b"}, scan(skipped=["a.cu"])),
    ):
        assert len(tasks(knowledge, plan, [refused()], files=files)) == 1


def test_what_remains_at_the_line_of_an_edit_that_was_left_out_is_no_task(knowledge, make_plan, make_edit):
    plan = make_plan(planned(make_edit, finding_at(line=2)))
    files = EditedFiles({"a.cu": b"x\ny"}, {"a.cu": b"x\n#if\n#endif\ny"}, scan())
    remaining = [UnresolvedFinding(finding=finding_at(line=line, code="CU102"), reason="r") for line in (4, 7)]

    (task,) = tasks(knowledge, plan, [refused("left_out")], remaining, files)

    assert task.lines == (7,)


def test_a_refusal_that_leaves_nothing_to_do_is_not_needed(make_plan, make_edit):
    note = make_plan(planned(make_edit, finding_at(severity="note")))
    plan = make_plan(planned(make_edit, finding_at()), planned(make_edit, finding_at(path="b.cu")))
    files = EditedFiles({"a.cu": b"a"}, {"a.cu": b"b"}, scan(finding_at(path="b.cu")))
    refusals = [refused(), refused(path="b.cu"), refused("left_out", path="c.cu")]

    assert [item.kind for item in settled_refusals(note, [refused()], UNEDITED)] == ["not_needed"]
    assert [item.kind for item in settled_refusals(plan, refusals, files)] == ["not_needed", "task", "left_out"]


# Tasks.


def test_findings_of_a_rule_in_a_file_are_one_task_with_an_example(knowledge, make_plan):
    left = [UnresolvedFinding(finding=finding_at(line=line), reason="no recipe yet") for line in (9, 2, 9)]
    left.append(UnresolvedFinding(finding=finding_at(path="b.cu", line=1), reason="no recipe yet"))

    first, second = tasks(knowledge, make_plan(left=tuple(left)))

    assert (first.where, second.where) == ("a.cu:2,9", "b.cu:1")
    assert (first.code, first.rule, first.reason) == ("CU101", "lane_mask_32bit", "m; no edit: no recipe yet")
    assert (first.action, first.effort) == ("use a wide mask", "minutes")
    assert "__shfl_down_sync(0xffffffff" in first.example_before
    assert "__shfl_down(v, offset, 32)" in first.example_after


def test_refused_edits_and_what_remains_have_the_lines_of_the_edited_file(knowledge, make_plan, make_edit):
    plan = make_plan(planned(make_edit, finding_at(line=2)))
    files = EditedFiles({"a.cu": b"x\ny"}, {"a.cu": b"x\n#if\n#endif\ny"}, scan(finding_at(line=4)))
    remaining = [UnresolvedFinding(finding=finding_at(line=7), reason="another form")]

    (task,) = tasks(knowledge, plan, [refused()], remaining, files)

    assert (task.lines, task.reason) == ((4, 7), "m; no edit: another form; inside a macro")


def test_different_hints_are_joined_and_a_rule_may_have_its_own_action(knowledge, make_plan):
    left = [UnresolvedFinding(finding=finding_at(hint=f"do {n}"), reason="r") for n in range(5)]
    package = UnresolvedFinding(finding=finding_at(path="r.txt", code="DEP201", hint="rocm3d plan"), reason="blocked")

    first, second = tasks(knowledge, make_plan(left=(*left, package)))

    assert first.action == "do 0; do 1; do 2; and 2 more"
    assert (second.action, second.effort) == (knowledge.codes["DEP201"].action, "hours")


def test_an_unknown_rule_is_a_task_too(knowledge, make_plan):
    left = (UnresolvedFinding(finding=finding_at(code="CU999"), reason="no recipe"),)

    (task,) = tasks(knowledge, make_plan(left=left))

    assert (task.action, task.example_after, task.effort) == ("use a wide mask", "", "minutes")


def test_remaining_findings_are_those_of_planned_edits_that_were_not_refused(make_plan, make_edit):
    plan = make_plan(planned(make_edit, finding_at(path="a.cu")), planned(make_edit, finding_at(path="b.cu")))
    patch = Patch(
        repository="r", folder="f", dry_run=False, changes=(), refused=(refused(path="b.cu"),), left=()
    )  # fmt: skip
    current = scan(finding_at(path="a.cu", line=8), finding_at(path="b.cu"), finding_at(path="c.cu"))

    (item,) = remaining_findings(plan, patch, current)

    assert (item.finding.path, item.finding.line) == ("a.cu", 8)
    assert item.reason == "drop-lane-mask does not handle this form"
