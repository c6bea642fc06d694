"""The outcome of each finding: edited, resolved by an added file, left for a person, refused, or no change needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.model.plan import PlannedEdit
    from rocm3d.render.html import Report

Outcome = Literal["left for a person", "refused", "edited", "additive", "no change needed"]
_ORDER: tuple[Outcome, ...] = ("left for a person", "refused", "edited", "additive", "no change needed")


@dataclass(frozen=True)
class Answer:
    """Findings with the same code, file and outcome; `positions` are (line, column)."""

    outcome: Outcome
    path: str
    code: str
    rule: str
    how: str
    places: tuple[tuple[int, int], ...] = ()

    @property
    def where(self) -> str:
        """Such as `a.cu:3,17`."""
        return f"{self.path}:{','.join(str(line) for line in dict.fromkeys(line for line, _ in self.places))}"


def answers(report: Report, knowledge: Knowledge) -> tuple[Answer, ...]:
    """Each finding of the plan once; those that need a person first, notes last."""
    grouped: dict[Answer, list[tuple[int, int]]] = {}
    for outcome, finding, how in _each(report, knowledge):
        key = Answer(outcome, finding.path, finding.code, finding.rule, how)
        grouped.setdefault(key, []).append((finding.line, finding.column))
    found = [
        Answer(key.outcome, key.path, key.code, key.rule, key.how, tuple(sorted(places)))
        for key, places in grouped.items()
    ]
    return tuple(sorted(found, key=lambda item: (_ORDER.index(item.outcome), item.path, item.places, item.code)))


def _each(report: Report, knowledge: Knowledge) -> Iterator[tuple[Outcome, Finding, str]]:
    plan, patch = report.plan, report.patch
    for left in patch.left:
        yield "left for a person", left.finding, f"{left.reason}: {left.finding.hint}"
    unreached = {(item.finding.path, item.finding.code) for item in patch.left}
    told = set()
    for outcome, finding, how in (item for edit in plan.edits for item in _edit(edit, report, unreached)):
        # If an added file resolves the finding, an edit that was not made is not missing.
        if outcome == "edited" or (finding not in plan.answered and finding.severity != "note"):
            told.add(finding)
            yield outcome, finding, how
    for finding in plan.answered:
        if finding not in told:
            yield "additive", finding, _addition(finding, report, knowledge)
    notes = (item for item in report.scan.findings if item.severity == "note" and item not in told)
    yield from (("no change needed", item, "a note") for item in notes)


def _edit(edit: PlannedEdit, report: Report, unreached: set[tuple[str, str]]) -> Iterator[tuple[Outcome, Finding, str]]:
    reasons = [item.reason for item in report.patch.refused if (item.path, item.recipe) == (edit.path, edit.recipe)]
    made = {name for change in report.patch.edited if change.path == edit.path for name in change.recipes}
    for finding in edit.findings:
        if reasons:
            yield "refused", finding, f"{edit.recipe}: {reasons[0]}"
        elif edit.recipe in made:
            part = "; other forms in this file are left" if (finding.path, finding.code) in unreached else ""
            yield "edited", finding, f"{edit.recipe}{part}"
        elif (finding.path, finding.code) not in unreached:
            yield "edited", finding, f"{edit.recipe}, by another edit of the file"


def _addition(finding: Finding, report: Report, knowledge: Knowledge) -> str:
    folder = report.patch.folder
    record = knowledge.codes.get(finding.code)
    decided = next((item for item in report.plan.decisions if item.package == finding.package), None)
    if decided is not None and finding.package is not None and (record is None or record.answered_by == "decision"):
        route = f", {decided.route}" if decided.route else ""
        return f"{decided.name}: {decided.decision}{route}, in {folder}/install.sh"
    return f"resolved by the install files in {folder}/"
