"""`--only` and `--skip`: rules by name, or codes by prefix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from rocm3d.knowledge.base import suggestion
from rocm3d.model.failure import UserError
from rocm3d.scan.detector import Detector, detector_of, detectors, modules


@dataclass(frozen=True)
class Selection:
    """Which rules run; empty `only` means all. `own` packages are provided by the repository: no findings."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    own: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for word in (*self.only, *self.skip):
            if word in modules():
                continue
            if not word or not any(_matches(word, item.code, item.rule) for item in detectors()):
                known = [item.rule for item in detectors()] + [item.code for item in detectors()]
                raise UserError(f"Unknown rule or code prefix: {word!r}", hint=suggestion(word, known))

    def takes(self, code: str, rule: str) -> bool:
        wanted = not self.only or any(_matches(word, code, rule) for word in self.only)
        return wanted and not any(_matches(word, code, rule) for word in self.skip)

    def detectors(self) -> tuple[Detector, ...]:
        """The selected detectors, sorted by code."""
        return _chosen(self)


@cache
def _chosen(selection: Selection) -> tuple[Detector, ...]:
    # If all rules are selected by name, load only their modules.
    named = set(selection.only) <= modules().keys() and bool(selection.only)
    among = map(detector_of, dict.fromkeys(selection.only)) if named else detectors()
    return tuple(sorted((d for d in among if selection.takes(d.code, d.rule)), key=lambda d: d.code))


def _matches(word: str, code: str, rule: str) -> bool:
    return word == rule or code.startswith(word.upper())
