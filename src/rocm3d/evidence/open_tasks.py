"""What a port leaves for a person: written tasks, and everything else that nobody wrote a task for."""

from __future__ import annotations

from collections.abc import Iterable

from rocm3d.model.patch import Patch, RefusedEdit
from rocm3d.model.plan import Plan, UnresolvedFinding
from rocm3d.model.task import Task
from rocm3d.model.verdict import Verdicts

OpenTask = Task | UnresolvedFinding | RefusedEdit


def open_tasks(plan: Plan | None, patch: Patch | None, verdicts: Verdicts | None) -> tuple[OpenTask, ...]:
    """Tasks of the patch and of failed checks; findings and refused edits count too, unless a task covers them."""
    tasks = list(dict.fromkeys([*(patch.tasks if patch else ()), *_of_checks(verdicts)]))
    left = patch.left if patch else plan.left if plan else ()
    findings = [item for item in dict.fromkeys(left) if not any(_covers_finding(task, item) for task in tasks)]
    refused = [
        item
        for item in (dict.fromkeys(patch.refused) if patch else ())
        if item.kind == "task" and not any(_covers_edit(task, item) for task in tasks)
    ]
    return (*tasks, *findings, *refused)


def _of_checks(verdicts: Verdicts | None) -> Iterable[Task]:
    return (task for item in (verdicts.verdicts if verdicts else ()) if item.outcome == "failed" for task in item.tasks)


def _covers_finding(task: Task, item: UnresolvedFinding) -> bool:
    finding = item.finding
    is_same_rule = task.code == finding.code or task.rule == finding.rule or not (task.code or task.rule)
    return task.path == finding.path and is_same_rule and (not task.lines or finding.line in task.lines)


def _covers_edit(task: Task, edit: RefusedEdit) -> bool:
    """Places are `path:line:column`."""
    lines = {int(part) for place in edit.places for part in place.split(":")[-2:-1] if part.isdecimal()}
    return task.path == edit.path and (not task.lines or not lines or not lines.isdisjoint(task.lines))
