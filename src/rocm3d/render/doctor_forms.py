"""On a terminal: what is wrong with a machine, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.text import Text

from rocm3d.model.condition import Diagnosis, Problem
from rocm3d.render.cleaning import clean
from rocm3d.render.forms import closing, parts

if TYPE_CHECKING:
    from rich.console import RenderableType

_SEVERITY = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def cost(problem: Problem) -> str:
    """Whether the remedy takes more than the user's own rights."""
    if problem.reboot:
        return "needs root and a reboot"
    return "needs root" if problem.root else "needs neither root nor a reboot"


def totals(document: Diagnosis) -> str:
    """How it came out, in a line."""
    found = Counter(item.severity for item in document.problems)
    return (
        f"{found['error']} errors, {found['warning']} warnings, {found['note']} notes; {len(document.fine)} conditions "
        f"are fine, {len(document.unread)} could not be looked at, {len(document.elsewhere)} are not about this machine"
    )


def unread(document: Diagnosis) -> dict[str, list[str]]:
    """What could not be looked at, by the reason: one missing interpreter hides many conditions."""
    found: dict[str, list[str]] = {}
    for item in document.unread:
        found.setdefault(item.reason, []).append(item.id)
    return found


@parts.register(Diagnosis)
def _diagnosis(document: Diagnosis) -> Iterable[RenderableType]:
    yield Text(clean(document.machine))
    yield from (Text(f"  {clean(gpu)}") for gpu in document.gpus)
    if document.plan:
        yield Text(f"for {clean(document.plan)}")
    for item in document.problems:
        yield Text.assemble((item.severity, _SEVERITY[item.severity]), f" {item.id}: {item.title}")
        yield from (Text(f"  read: {clean(line)}", style="dim") for line in item.read)
        yield Text(f"  why: {item.why}")
        if item.for_plan:
            yield Text(f"  for this plan: {clean(item.for_plan)}", style="bold")
        yield from (Text(f"  do: {clean(line)}") for line in item.remedy)
        yield Text(f"  {cost(item)}; check: {clean(item.check)}")
    for reason, names in unread(document).items():
        yield Text.assemble(("not looked at: ", "yellow"), f"{', '.join(names)}: {clean(reason)}")


@closing.register(Diagnosis)
def _diagnosis_closing(document: Diagnosis) -> Iterable[RenderableType]:
    yield Text(document.lacks or totals(document))
