"""`rocm3d apply --only` and `--skip`: selects planned edits by rule, code prefix or recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rocm3d.knowledge.base import Knowledge, suggestion
from rocm3d.model.errors import UserError
from rocm3d.model.plan import PlannedEdit


@dataclass(frozen=True)
class EditSelection:
    """Selected edits; an empty `only` selects all. Additions are not edits and are always written."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()

    @classmethod
    def from_options(cls, only: Sequence[str], skip: Sequence[str], knowledge: Knowledge) -> EditSelection:
        """Raises UserError for a value that is neither a rule, nor a code prefix, nor a recipe."""
        selection = cls(tuple(dict.fromkeys(only)), tuple(dict.fromkeys(skip)))
        codes = [code for code in knowledge.codes.values() if code.status == "active"]
        for selector in (*selection.only, *selection.skip):
            if selector not in knowledge.recipes and not any(
                _selects_code(selector, code.code, code.rule) for code in codes
            ):
                known = [*(code.rule for code in codes), *(code.code for code in codes), *knowledge.recipes]
                raise UserError(
                    f"{selector!r} is not a rule, a code prefix or a recipe", hint=suggestion(selector, known)
                )
        return selection

    def exclusion_reason(self, edit: PlannedEdit) -> str | None:
        """Why the edit is excluded; None if it is selected."""
        for selector in self.skip:
            if _selects_edit(selector, edit):
                return f"excluded by --skip {selector}"
        if self.only and not any(_selects_edit(selector, edit) for selector in self.only):
            return f"excluded by --only {','.join(self.only)}"
        return None


def _selects_edit(selector: str, edit: PlannedEdit) -> bool:
    return selector == edit.recipe or any(
        _selects_code(selector, finding.code, finding.rule) for finding in edit.findings
    )


def _selects_code(selector: str, code: str, rule: str) -> bool:
    """The same matching as `rocm3d scan --only`."""
    return bool(selector) and (selector == rule or code.startswith(selector.upper()))
