"""`rocm3d apply --only` and `--skip`: selects planned edits by rule, code prefix or recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.knowledge.base import suggestion
from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.plan import PlannedEdit


@dataclass(frozen=True)
class Choice:
    """Selected edits; an empty `only` selects all. Additions are not edits and are always written."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()

    @classmethod
    def of(cls, only: Sequence[str], skip: Sequence[str], knowledge: Knowledge) -> Choice:
        """Raises UserError for a value that is neither a rule, nor a code prefix, nor a recipe."""
        chosen = cls(tuple(dict.fromkeys(only)), tuple(dict.fromkeys(skip)))
        codes = [code for code in knowledge.codes.values() if code.status == "active"]
        for word in (*chosen.only, *chosen.skip):
            if word not in knowledge.recipes and not any(_names(word, code.code, code.rule) for code in codes):
                known = [*(code.rule for code in codes), *(code.code for code in codes), *knowledge.recipes]
                raise UserError(f"{word!r} is not a rule, a code prefix or a recipe", hint=suggestion(word, known))
        return chosen

    def against(self, edit: PlannedEdit) -> str | None:
        """Why the edit is excluded; None if it is selected."""
        for word in self.skip:
            if _meant(word, edit):
                return f"excluded by --skip {word}"
        if self.only and not any(_meant(word, edit) for word in self.only):
            return f"excluded by --only {','.join(self.only)}"
        return None


def _meant(word: str, edit: PlannedEdit) -> bool:
    return word == edit.recipe or any(_names(word, found.code, found.rule) for found in edit.findings)


def _names(word: str, code: str, rule: str) -> bool:
    """The same matching as `rocm3d scan --only`."""
    return bool(word) and (word == rule or code.startswith(word.upper()))
