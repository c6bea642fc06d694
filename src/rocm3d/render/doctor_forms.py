"""Console forms of `rocm3d doctor`: problems of a machine and their remedies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text

from rocm3d.model.condition import Diagnosis, Problem
from rocm3d.model.counted import counted
from rocm3d.render.console_forms import document_lines, summary_lines
from rocm3d.render.sanitize import clean

if TYPE_CHECKING:
    from rich.console import RenderableType

_SEVERITY_STYLE = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def remedy_cost(problem: Problem) -> str:
    """Whether the remedy needs root or a reboot."""
    if problem.reboot:
        return "needs root and a reboot"
    return "needs root" if problem.root else "needs no root and no reboot"


def totals(document: Diagnosis) -> str:
    """The counts in one line."""
    severities = Counter(item.severity for item in document.problems)
    counts = ", ".join(counted(severities[word], word) for word in ("error", "warning", "note"))
    return (
        f"{counts}; {counted(len(document.fine), 'condition is', 'conditions are')} fine, "
        f"{len(document.unread)} could not be checked, {len(document.elsewhere)} do not apply to this machine"
    )


def unread_by_reason(document: Diagnosis) -> dict[str, list[str]]:
    """Conditions that could not be checked, grouped by reason: one missing interpreter affects many of them."""
    ids_by_reason: dict[str, list[str]] = {}
    for item in document.unread:
        ids_by_reason.setdefault(item.reason, []).append(item.id)
    return ids_by_reason


@document_lines.register(Diagnosis)
def _diagnosis(document: Diagnosis) -> Iterable[RenderableType]:
    yield Text(clean(document.machine))
    yield from (Text(f"  {clean(gpu)}") for gpu in document.gpus)
    if document.plan:
        yield Text(f"for {clean(document.plan)}")
    for item in document.problems:
        yield Text.assemble((item.severity, _SEVERITY_STYLE[item.severity]), f" {item.id}: {item.title}")
        yield from (Text(f"  read: {clean(line)}", style="dim") for line in item.read)
        yield Text(f"  why: {item.why}")
        if item.for_plan:
            yield Text(f"  for this plan: {clean(item.for_plan)}", style="bold")
        yield from (Text(f"  do: {clean(line)}") for line in item.remedy)
        yield Text(f"  {remedy_cost(item)}; check: {clean(item.check)}")
    for reason, names in unread_by_reason(document).items():
        yield Text.assemble(("not checked: ", "yellow"), f"{', '.join(names)}: {clean(reason)}")


@summary_lines.register(Diagnosis)
def _diagnosis_closing(document: Diagnosis) -> Iterable[RenderableType]:
    yield Text(document.lacks or totals(document))
