"""What a port leaves for a person: the tasks of its patch and of failed checks, each rule of a file once."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.model.patch import Patch, RefusedEdit
from rocm3d.model.plan import Plan, UnresolvedFinding
from rocm3d.model.task import PortTask
from rocm3d.model.verdict import Verdicts


def count_tasks(plan: Plan | None, patch: Patch | None, verdicts: Verdicts | None) -> int:
    """Before apply, the findings that the plan leaves."""
    keys = {_key(task) for task in _of_checks(verdicts)}
    if patch is not None and not patch.plan:
        # Written by an earlier version, which had no tasks.
        return len(keys) + len(_unwritten(patch))
    if patch is None:
        keys |= {(item.finding.path, item.finding.code) for item in (plan.left if plan else ())}
    else:
        keys |= {_key(task) for task in patch.tasks}
    return len(keys)


def _key(task: PortTask) -> tuple[str, str]:
    """A check may report what the patch already lists, and one side of a unit what another one does."""
    return task.path, task.code or task.reason


def _of_checks(verdicts: Verdicts | None) -> Iterator[PortTask]:
    return (task for item in (verdicts.verdicts if verdicts else ()) if item.outcome == "failed" for task in item.tasks)


def _unwritten(patch: Patch) -> set[UnresolvedFinding | RefusedEdit]:
    return {*patch.left, *(item for item in patch.refused if item.kind == "task")}
