"""The outcome of each finding: edited, resolved by an added file, left for a person, left out, or no change needed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.model.patch import RefusalKind
    from rocm3d.model.plan import PlannedEdit
    from rocm3d.render.html import PortReportView

FindingState = Literal["left for a person", "left out", "edited", "additive", "no change needed"]
_ORDER: tuple[FindingState, ...] = ("left for a person", "left out", "edited", "additive", "no change needed")
_STATE_OF_REFUSAL: dict[RefusalKind, FindingState] = {
    "task": "left for a person",
    "left_out": "left out",
    "not_needed": "no change needed",
}


@dataclass(frozen=True)
class FindingOutcome:
    """Findings with the same code, file and outcome; `positions` are (line, column)."""

    outcome: FindingState
    path: str
    code: str
    rule: str
    how: str
    positions: tuple[tuple[int, int], ...] = ()

    @property
    def location(self) -> str:
        """Such as `a.cu:3,17`."""
        return f"{self.path}:{','.join(str(line) for line in dict.fromkeys(line for line, _ in self.positions))}"


def finding_outcomes(report: PortReportView, knowledge: Knowledge) -> tuple[FindingOutcome, ...]:
    """Each finding of the plan once; those that need a person first, notes last."""
    places: dict[FindingOutcome, list[tuple[int, int]]] = defaultdict(list)
    for outcome, finding, how in _outcome_of_each(report, knowledge):
        key = FindingOutcome(outcome, finding.path, finding.code, finding.rule, how)
        places[key].append((finding.line, finding.column))
    outcomes = [replace(key, positions=tuple(sorted(positions))) for key, positions in places.items()]
    return tuple(sorted(outcomes, key=lambda item: (_ORDER.index(item.outcome), item.path, item.positions, item.code)))


def _outcome_of_each(report: PortReportView, knowledge: Knowledge) -> Iterator[tuple[FindingState, Finding, str]]:
    plan, patch = report.plan, report.patch
    for left in patch.left:
        yield "left for a person", left.finding, f"{left.reason}: {left.finding.hint}"
    left_for_person = {(item.finding.path, item.finding.code) for item in patch.left}
    resolved = set()
    edited = (item for edit in plan.edits for item in _outcomes_of_edit(edit, report, left_for_person))
    for outcome, finding, how in edited:
        # If an added file resolves the finding, an edit that was not made is not missing.
        if outcome == "edited" or (finding not in plan.answered and finding.severity != "note"):
            resolved.add(finding)
            yield outcome, finding, how
    for finding in (item for item in plan.answered if item not in resolved):
        yield "additive", finding, _describe_addition(finding, report, knowledge)
    for finding in (item for item in report.scan.findings if item.severity == "note" and item not in resolved):
        yield "no change needed", finding, "a note"


def _outcomes_of_edit(
    edit: PlannedEdit, report: PortReportView, left_for_person: set[tuple[str, str]]
) -> Iterator[tuple[FindingState, Finding, str]]:
    refusals = [item for item in report.patch.refused if (item.path, item.recipe) == (edit.path, edit.recipe)]
    applied_recipes = {name for change in report.patch.edited if change.path == edit.path for name in change.recipes}
    for finding in edit.findings:
        if refusals:
            yield _STATE_OF_REFUSAL[refusals[0].kind], finding, f"{edit.recipe}: {refusals[0].reason}"
        elif edit.recipe in applied_recipes:
            remainder = "; other forms in this file are left" if (finding.path, finding.code) in left_for_person else ""
            yield "edited", finding, f"{edit.recipe}{remainder}"
        elif (finding.path, finding.code) not in left_for_person:
            yield "edited", finding, f"{edit.recipe}, by another edit of the file"


def _describe_addition(finding: Finding, report: PortReportView, knowledge: Knowledge) -> str:
    folder = report.patch.folder
    record = knowledge.codes.get(finding.code)
    decision = next((item for item in report.plan.decisions if item.package == finding.package), None)
    if decision is not None and finding.package is not None and (record is None or record.answered_by == "decision"):
        route = f", {decision.route}" if decision.route else ""
        return f"{decision.name}: {decision.decision}{route}, in {folder}/install.sh"
    return f"resolved by the install files in {folder}/"
