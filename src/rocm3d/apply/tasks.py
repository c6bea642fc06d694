"""What no rewrite could edit, as tasks for a person: one for each rule in each file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from rocm3d.apply.line_map import line_map
from rocm3d.knowledge.worked_example import worked_example
from rocm3d.model.patch import Patch, RefusedEdit
from rocm3d.model.plan import Plan, UnresolvedFinding
from rocm3d.model.task import PortTask

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.code import Effort
    from rocm3d.model.finding import Finding
    from rocm3d.model.inventory import Scan

_MAX_HINTS = 3
RESOLVED = "another edit or an added file resolves it, or it is only a note"


@dataclass(frozen=True)
class OpenFinding:
    """A finding that a person has to resolve, with its line in the edited file."""

    finding: Finding
    reason: str
    line: int


@dataclass(frozen=True)
class EditedFiles:
    """Bytes of each edited file before and after its edits, and a scan of the tree with the edits."""

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    scan: Scan

    def line_of(self, path: str) -> Callable[[int], int]:
        """Maps a line of the original to the edited file."""
        if path not in self._maps:
            is_edited = path in self.after and path in self.before
            self._maps[path] = line_map(self.before[path], self.after[path]) if is_edited else int
        return self._maps[path]

    @cached_property
    def _maps(self) -> dict[str, Callable[[int], int]]:
        return {}

    @cached_property
    def _found(self) -> set[tuple[str, str, str | None]]:
        return {_key(item) for item in self.scan.all_findings}

    @cached_property
    def _unread(self) -> set[str]:
        return {item.path for item in self.scan.inventory.skipped}

    def is_resolved(self, finding: Finding) -> bool:
        """Whether the edited file was read and no longer has findings of this kind."""
        was_read = finding.path in self.after and finding.path not in self._unread
        return was_read and _key(finding) not in self._found


def remaining_findings(plan: Plan, patch: Patch, scan: Scan) -> list[UnresolvedFinding]:
    """Findings with a planned edit that are still in the edited text: they need a manual edit."""
    refused = {(refusal.path, refusal.recipe) for refusal in patch.refused}
    planned_edits = {
        _key(finding): edit for edit in plan.edits for finding in edit.findings if finding.severity != "note"
    }
    return [
        UnresolvedFinding(finding=finding, reason=f"{edit.recipe} does not handle this form")
        for finding in scan.findings
        if (edit := planned_edits.get(_key(finding))) and (edit.path, edit.recipe) not in refused
    ]


def open_findings(
    plan: Plan, refused: Collection[RefusedEdit], remaining: Iterable[UnresolvedFinding], files: EditedFiles
) -> Iterator[OpenFinding]:
    """What a person has to resolve: findings without a fix, refused edits, and forms that remain after an edit.

    Notes, edits that the user left out and edits that are not needed are no tasks.
    """
    kinds = {(item.path, item.recipe): item.kind for item in refused}
    by_edit = {(item.path, item.recipe): item.reason for item in refused if item.kind == "task"}
    # What a left out edit would have changed may be found by other rules as well.
    left_out = {
        (edit.path, files.line_of(edit.path)(finding.line))
        for edit in plan.edits
        if kinds.get((edit.path, edit.recipe)) == "left_out"
        for finding in edit.findings
    }
    for item in remaining:
        if (item.finding.path, item.finding.line) not in left_out:
            yield OpenFinding(item.finding, item.reason, item.finding.line)
    left = [(item.finding, item.reason) for item in plan.left if item.finding.severity != "note"]
    unresolved = _unresolved(plan, by_edit.keys(), files)
    left += [(finding, by_edit[key]) for key, findings in unresolved.items() for finding in findings]
    for finding, reason in left:
        yield OpenFinding(finding, reason, files.line_of(finding.path)(finding.line))


def settled_refusals(plan: Plan, refused: Iterable[RefusedEdit], files: EditedFiles) -> tuple[RefusedEdit, ...]:
    """The refusals; those that leave nothing to do are not needed."""
    items = tuple(refused)
    unresolved = _unresolved(plan, {(item.path, item.recipe) for item in items if item.kind == "task"}, files)
    return tuple(
        item.model_copy(update={"kind": "not_needed", "reason": RESOLVED})
        if unresolved.get((item.path, item.recipe)) == []
        else item
        for item in items
    )


def _unresolved(
    plan: Plan, keys: Collection[tuple[str, str]], files: EditedFiles
) -> dict[tuple[str, str], list[Finding]]:
    """The findings of refused edits, by path and recipe, that still have to be resolved. Notes never have to."""
    answered = set(plan.answered)
    return {
        (edit.path, edit.recipe): [
            finding
            for finding in edit.findings
            if finding.severity != "note" and finding not in answered and not files.is_resolved(finding)
        ]
        for edit in plan.edits
        if (edit.path, edit.recipe) in keys
    }


def grouped_tasks(findings: Iterable[OpenFinding], knowledge: Knowledge) -> tuple[PortTask, ...]:
    """One task for each rule in each file, sorted by place."""
    grouped: dict[tuple[str, str], list[OpenFinding]] = {}
    for item in findings:
        grouped.setdefault((item.finding.path, item.finding.code), []).append(item)
    tasks = (_task(path, items, knowledge) for (path, _), items in grouped.items())
    return tuple(sorted(tasks, key=lambda task: (task.path, task.lines, task.code)))


def _task(path: str, items: list[OpenFinding], knowledge: Knowledge) -> PortTask:
    first, rule = items[0].finding, knowledge.codes.get(items[0].finding.code)
    example = worked_example(first.code, knowledge)
    effort: Effort = rule.effort if rule is not None else "minutes"
    return PortTask(
        path=path,
        lines=tuple(sorted({item.line for item in items})),
        code=first.code,
        rule=first.rule,
        reason=f"{_joined(item.finding.message for item in items)}; no edit: {_joined(item.reason for item in items)}",
        action=(rule.action if rule else "") or _joined(item.finding.hint for item in items),
        example_before=example.before,
        example_after=example.after,
        effort="minutes" if effort == "none" else effort,
    )


def _joined(texts: Iterable[str]) -> str:
    """Different texts in order, without an endless list."""
    different = list(dict.fromkeys(texts))
    more = len(different) - _MAX_HINTS
    return "; ".join([*different[:_MAX_HINTS], *([f"and {more} more"] if more > 0 else [])])


def _key(finding: Finding) -> tuple[str, str, str | None]:
    return finding.path, finding.code, finding.package
