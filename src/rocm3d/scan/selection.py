"""`--only` and `--skip`: rules by name, or codes by prefix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.knowledge.base import suggestion
from rocm3d.model.errors import UserError
from rocm3d.scan.detector import Detector, active_rules, load_detectors

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge


@dataclass(frozen=True)
class Selection:
    """Which rules run; empty `only` means all. `own` packages are provided by the repository: no findings."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    def check(self, knowledge: Knowledge) -> None:
        """Refuse a selector that is neither a rule nor a prefix of a code."""
        rules = active_rules(knowledge)
        for selector in (*self.only, *self.skip):
            if not selector or not any(_matches(selector, rule.code, rule.rule) for rule in rules):
                known = [rule.rule for rule in rules] + [rule.code for rule in rules]
                raise UserError(f"Unknown rule or code prefix: {selector!r}", hint=suggestion(selector, known))

    def includes(self, code: str, rule: str) -> bool:
        is_selected = not self.only or any(_matches(selector, code, rule) for selector in self.only)
        return is_selected and not any(_matches(selector, code, rule) for selector in self.skip)

    def detectors(self, knowledge: Knowledge) -> tuple[Detector, ...]:
        """The selected detectors, sorted by code. Modules of other rules are not loaded."""
        selected = (rule for rule in active_rules(knowledge) if self.includes(rule.code, rule.rule))
        return tuple(detector for rule in selected for detector in load_detectors(rule))


def _matches(selector: str, code: str, rule: str) -> bool:
    return selector == rule or code.startswith(selector.upper())
