"""`--only` and `--skip`: rules by name, or codes by prefix."""

from __future__ import annotations

from dataclasses import dataclass

from rocm3d.knowledge.base import suggestion
from rocm3d.model.failure import UserError
from rocm3d.scan.detector import detectors


@dataclass(frozen=True)
class Selection:
    """Which rules run; empty `only` means all."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for word in (*self.only, *self.skip):
            if not word or not any(_matches(word, item.code, item.rule) for item in detectors()):
                known = [item.rule for item in detectors()] + [item.code for item in detectors()]
                raise UserError(f"{word!r} is no rule and no code prefix", hint=suggestion(word, known))

    def takes(self, code: str, rule: str) -> bool:
        """Whether a rule runs."""
        wanted = not self.only or any(_matches(word, code, rule) for word in self.only)
        return wanted and not any(_matches(word, code, rule) for word in self.skip)


def _matches(word: str, code: str, rule: str) -> bool:
    return word == rule or code.startswith(word.upper())
