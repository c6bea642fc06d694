"""Which rules run, and whose findings a repository hides: rules by name, or codes by prefix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.knowledge.base import suggestion
from rocm3d.model.errors import UserError
from rocm3d.scan.detector import Detector, active_rules, load_detectors

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge


@dataclass(frozen=True)
class RuleSettings:
    """`only` and `skip` of a repository's settings. These rules run too: their findings are hidden, and counted."""

    source: str
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()

    def hides(self, code: str, rule: str) -> bool:
        return not _is_selected(self.only, self.skip, code, rule)

    @property
    def text(self) -> str:
        """The settings as one line: `only = DEP; skip = CU, BLD`."""
        return "; ".join(f"{key} = {', '.join(value)}" for key in ("only", "skip") if (value := getattr(self, key)))


@dataclass(frozen=True)
class Selection:
    """`only` and `skip` of the command line: which rules run; empty `only` means all.

    `own` packages are provided by the repository: no findings. With `isolated` no comment of the repository hides one.
    """

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    settings: RuleSettings | None = None
    isolated: bool = False

    @property
    def options(self) -> str:
        """The options of the command line that select rules; empty if all rules run."""
        return " ".join(f"--{key} {','.join(value)}" for key in ("only", "skip") if (value := getattr(self, key)))

    def check(self, knowledge: Knowledge) -> None:
        """Refuse a selector that is neither a rule nor a prefix of a code."""
        rules, hidden = active_rules(knowledge), self.settings or RuleSettings("")
        for selector in (*self.only, *self.skip, *hidden.only, *hidden.skip):
            if not selector or not any(_matches(selector, rule.code, rule.rule) for rule in rules):
                known = [rule.rule for rule in rules] + [rule.code for rule in rules]
                raise UserError(f"Unknown rule or code prefix: {selector!r}", hint=suggestion(selector, known))

    def includes(self, code: str, rule: str) -> bool:
        return _is_selected(self.only, self.skip, code, rule)

    def detectors(self, knowledge: Knowledge) -> tuple[Detector, ...]:
        """The selected detectors, sorted by code. Modules of other rules are not loaded."""
        selected = (rule for rule in active_rules(knowledge) if self.includes(rule.code, rule.rule))
        return tuple(detector for rule in selected for detector in load_detectors(rule))


def _is_selected(only: tuple[str, ...], skip: tuple[str, ...], code: str, rule: str) -> bool:
    is_selected = not only or any(_matches(selector, code, rule) for selector in only)
    return is_selected and not any(_matches(selector, code, rule) for selector in skip)


def _matches(selector: str, code: str, rule: str) -> bool:
    return selector == rule or code.startswith(selector.upper())
