"""The outcome of a check. "Could not look" is a value with a reason, never a pass."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from rocm3d.model.base import Document, Record

Level = Literal["static", "resolve", "compile", "nvidia", "import", "backend", "numerics", "workload"]
Outcome = Literal["passed", "failed", "skipped", "not_run"]


class Verdict(Record):
    """One check: what was looked at, and what came of it."""

    level: Level
    probe: str
    outcome: Outcome
    reason: str = ""
    looked_at: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_honest(self) -> Verdict:
        if self.outcome == "passed" and not self.looked_at:
            raise ValueError("passed means we looked: say at what")
        if self.outcome != "passed" and not self.reason:
            raise ValueError(f"{self.outcome} needs a reason")
        return self


class Verdicts(Document):
    """verdicts.json."""

    repository: str
    targets: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
