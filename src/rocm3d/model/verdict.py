"""The verdicts of probes. A check that did not run has a reason and never counts as passed."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from rocm3d.model.base import Document, Record

Level = Literal["static", "resolve", "compile", "nvidia", "import", "backend", "numerics", "workload"]
Outcome = Literal["passed", "failed", "skipped", "not_run"]


class Verdict(Record):
    """The result of one probe. `looked_at` lists what was checked."""

    level: Level
    probe: str
    outcome: Outcome
    reason: str = ""
    looked_at: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check_reason(self) -> Verdict:
        if self.outcome == "passed" and not self.looked_at:
            raise ValueError("outcome passed needs looked_at: what was checked")
        if self.outcome != "passed" and not self.reason:
            raise ValueError(f"outcome {self.outcome} needs a reason")
        return self


class Verdicts(Document):
    """verdicts.json."""

    repository: str
    targets: tuple[str, ...]
    verdicts: tuple[Verdict, ...]
