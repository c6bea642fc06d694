"""`--only` and `--skip`: rules by name, or codes by prefix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from rocm3d.knowledge.base import suggestion
from rocm3d.model.errors import UserError
from rocm3d.scan.detector import Detector, all_detectors, load_detector, rule_modules


@dataclass(frozen=True)
class Selection:
    """Which rules run; empty `only` means all. `own` packages are provided by the repository: no findings."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for selector in (*self.only, *self.skip):
            if selector in rule_modules():
                continue
            if not selector or not any(
                _matches(selector, detector.code, detector.rule) for detector in all_detectors()
            ):
                known = [detector.rule for detector in all_detectors()] + [
                    detector.code for detector in all_detectors()
                ]
                raise UserError(f"Unknown rule or code prefix: {selector!r}", hint=suggestion(selector, known))

    def includes(self, code: str, rule: str) -> bool:
        is_selected = not self.only or any(_matches(selector, code, rule) for selector in self.only)
        return is_selected and not any(_matches(selector, code, rule) for selector in self.skip)

    def detectors(self) -> tuple[Detector, ...]:
        """The selected detectors, sorted by code."""
        return _selected_detectors(self)


@cache
def _selected_detectors(selection: Selection) -> tuple[Detector, ...]:
    # If all rules are selected by name, load only their modules.
    all_by_name = set(selection.only) <= rule_modules().keys() and bool(selection.only)
    candidates = map(load_detector, dict.fromkeys(selection.only)) if all_by_name else all_detectors()
    return tuple(sorted((d for d in candidates if selection.includes(d.code, d.rule)), key=lambda d: d.code))


def _matches(selector: str, code: str, rule: str) -> bool:
    return selector == rule or code.startswith(selector.upper())
