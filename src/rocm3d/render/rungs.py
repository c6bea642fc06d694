"""The state of a port as text, for all formats: nothing else tells a user how far a port is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from rocm3d.model.counted import counted
from rocm3d.model.port_state import PortState, Rung, RungName
from rocm3d.render.sanitize import clean

Tone = Literal["passed", "failed", "not_run"]
_MAX_ITEMS, _MAX_REASON = 4, 400
# Their totals say little in one line.
_WITHOUT_COUNT: tuple[RungName, ...] = ("scanned", "planned")
QUESTIONS: dict[RungName, str] = {
    "scanned": "Was everything that belongs to the port scanned?",
    "planned": "Does every dependency have a route to this GPU?",
    "edited": "Are all proven edits made, and do NVIDIA builds see the same code?",
    "resolved": "Does it install without changing the base?",
    "compiled": "Does it compile to AMD machine code?",
    "imported": "Does each package import from the right place?",
    "ran": "Did it run on the GPU of the plan?",
    "judged": "Are the results right?",
}
_SIGNS = {
    "complete": "\u2713",
    "partial": "\u25d0",
    "failed": "\u2715",
    "not_run": "\u25cb",
    "not_applicable": "\u2212",
}
NOTHING_LEFT = "nothing left that this machine can do"


def rung_word(rung: Rung) -> str:
    """Such as `ok`, `8 of 10`, `failed` or `not run`."""
    if rung.outcome == "complete":
        return f"{rung.done} of {rung.total}" if rung.total and rung.name not in _WITHOUT_COUNT else "ok"
    if rung.outcome == "partial":
        return f"{rung.done} of {rung.total}"
    return {"failed": "failed", "not_run": "not run", "not_applicable": "does not apply"}[rung.outcome]


def rung_sign(rung: Rung) -> str:
    """The outcome as a symbol."""
    return _SIGNS[rung.outcome]


def rung_detail(rung: Rung) -> str:
    """Why it is open, and what is; empty if it is complete. Text of the repository is cleaned."""
    if rung.outcome == "complete":
        return ""
    reason = clean(rung.reason)
    reason = reason if len(reason) <= _MAX_REASON else f"{reason[:_MAX_REASON]} ..."
    items = [clean(item) for item in rung.open_items[:_MAX_ITEMS]]
    more = f" and {len(rung.open_items) - _MAX_ITEMS} more" if len(rung.open_items) > _MAX_ITEMS else ""
    return f"{reason} ({', '.join(items)}{more})" if items else reason


def rung_line(state: PortState) -> str:
    """All rungs in one line, without text of the repository."""
    return ", ".join(f"{rung.name} {rung_word(rung)}" for rung in state.rungs)


def current_rung(state: PortState) -> str:
    """The state in a few words, without text of the repository: the first open rung, and a later one that failed."""
    failed = next((rung for rung in state.rungs if rung.outcome == "failed" and rung != state.current), None)
    words = [f"{rung.name} {rung_word(rung)}" for rung in (state.current, failed) if rung is not None]
    words += [counted(state.tasks, "task for a person", "tasks for a person")] if state.tasks else []
    return ", ".join(words) or "every rung complete"


def left_line(state: PortState) -> str:
    """Tasks, packages without a route, and stubs; empty if there are none."""
    parts = [counted(state.tasks, "task for a person", "tasks for a person")] if state.tasks else []
    parts += [f"no route: {', '.join(map(clean, state.blocked))}"] if state.blocked else []
    parts += [f"stub or substitute, never verified: {', '.join(map(clean, state.stubs))}"] if state.stubs else []
    return "; ".join(parts)


def headline(state: PortState) -> str:
    """The state in one or two sentences: the first open rung, then a later one that failed."""
    current = state.current
    if current is None:
        return f"Every rung is complete{'' if state.is_complete else f'; {left_line(state)}'}."
    failed = next((rung for rung in state.rungs if rung.outcome == "failed" and rung != current), None)
    return " ".join(_sentence(rung) for rung in (current, failed) if rung is not None)


def _sentence(rung: Rung) -> str:
    reason = rung_detail(rung.model_copy(update={"open_items": ()}))
    return f"{rung.name.capitalize()} {rung_word(rung)}: {reason.rstrip('.')}."


def tone(state: PortState) -> Tone:
    """The colour: `passed`, which is green, only if nothing at all is open."""
    if any(rung.outcome == "failed" for rung in state.rungs) or state.blocked:
        return "failed"
    return "passed" if state.is_complete else "not_run"


def next_line(state: PortState) -> str:
    """The last line of a command: what to do next."""
    if state.next:
        return f"next: {clean(state.next)}"
    if state.is_complete:
        return "next: nothing, every rung is complete"
    later = next((rung.next for rung in state.rungs if rung.is_open and rung.next), "")
    return f"next: {NOTHING_LEFT}{f'; on a machine with the GPU of the plan: {clean(later)}' if later else ''}"


def state_lines(state: PortState) -> Iterator[str]:
    """The state for a terminal: the rungs, why some of them are open, what is left, and the next command."""
    yield rung_line(state)
    for rung in state.rungs:
        is_next = rung.is_open and rung.next == state.next != ""
        if is_next or rung == state.current or rung.outcome in ("failed", "partial"):
            yield f"  {rung.name}: {rung_detail(rung)}"
    if left := left_line(state):
        yield left
    yield next_line(state)
