"""Renders edits for `rocm3d review`: what each does, why, what proves it, and its diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.knowledge.base import advice_about
from rocm3d.model.counted import counted
from rocm3d.render import explain
from rocm3d.render.console import diff_text
from rocm3d.render.sanitize import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm3d.apply.review_units import ReviewUnit
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.recipe import Recipe


def unit_text(unit: ReviewUnit, position: str, knowledge: Knowledge, *, colour: bool) -> str:
    """The edits of a unit. Text of the repository is sanitized."""
    lines = [f"{position}: {clean(unit.path)}, {', '.join(unit.recipes)}{'' if unit.is_made else ' (left out)'}"]
    lines += [f"reason: {recipe.title}. {recipe.why}" for recipe in _recipes(unit, knowledge)]
    lines += [f"check: {clean(note.check)}" for note in unit.notes if note.check]
    lines += [f"proof: {clean(unit.proof.detail)}", "", diff_text(unit.diff, colour=colour).rstrip("\n")]
    return "\n".join(lines)


def unit_line(unit: ReviewUnit) -> str:
    """The unit in one line."""
    where = ", ".join(dict.fromkeys(note.where for note in unit.notes if note.where)) or unit.path
    checks = " ".join(dict.fromkeys(note.check for note in unit.notes))
    return clean(f"{where}: {', '.join(unit.recipes)}: {checks}".rstrip(": "))


def unit_explanation(unit: ReviewUnit, knowledge: Knowledge) -> str:
    """Everything known about the rules of a unit and about its edits."""
    texts = []
    for recipe in _recipes(unit, knowledge):
        rule = knowledge.codes.get(recipe.code)
        texts += [] if rule is None else [explain.render(rule, advice_about(rule, knowledge))]
        texts.append(explain.render(recipe))
    return "\n".join(texts) or f"no record of {', '.join(unit.recipes)}\n"


def outcome_text(read: int, left_out: int, open_units: int) -> str:
    """The closing line of a review."""
    return f"{counted(read, 'edit')} kept, {left_out} left out, {open_units} open"


def _recipes(unit: ReviewUnit, knowledge: Knowledge) -> Sequence[Recipe]:
    return [knowledge.recipes[name] for name in unit.recipes if name in knowledge.recipes]
