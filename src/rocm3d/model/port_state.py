"""The state of a port: one rung for each thing that has to be shown, each with its own outcome."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import model_validator

from rocm3d.model.base import Record

RungName = Literal["scanned", "planned", "edited", "resolved", "compiled", "imported", "ran", "judged"]
RungOutcome = Literal["complete", "partial", "failed", "not_run", "not_applicable"]
RUNGS: tuple[RungName, ...] = get_args(RungName)


class Rung(Record):
    """One rung. `done` of `total` items are shown; `open_items` are the others.

    `reason` and `next` are empty if it is complete. `next` is also empty if no command of rocm3d gets there.
    """

    name: RungName
    outcome: RungOutcome
    done: int = 0
    total: int = 0
    open_items: tuple[str, ...] = ()
    reason: str = ""
    next: str = ""

    @model_validator(mode="after")
    def _check(self) -> Rung:
        if self.outcome == "complete" and (self.open_items or self.done != self.total):
            raise ValueError(f"{self.name} is complete, but {self.done} of {self.total} are done")
        if self.outcome != "complete" and not self.reason:
            raise ValueError(f"outcome {self.outcome} of {self.name} needs a reason")
        return self

    @property
    def is_open(self) -> bool:
        """Whether something is left to show."""
        return self.outcome not in ("complete", "not_applicable")


class PortState(Record):
    """All rungs in order, and what stands beside them: tasks for a person, blocked packages, stubs."""

    rungs: tuple[Rung, ...]
    tasks: int = 0
    blocked: tuple[str, ...] = ()
    stubs: tuple[str, ...] = ()
    next: str = ""

    @property
    def current(self) -> Rung | None:
        """The first rung that is not complete: the state of the port. None if all are."""
        return next((rung for rung in self.rungs if rung.is_open), None)

    def reaches(self, until: RungName) -> bool:
        """Whether the port meets a bar: every rung up to `until`, no task and no blocked package.

        The rung `resolved` needs the network, so it only counts for itself and for the rungs after `compiled`.
        """
        required = [name for name in RUNGS[: RUNGS.index(until) + 1] if name != "resolved" or until != "compiled"]
        met = not any(rung.is_open for rung in self.rungs if rung.name in required)
        return met and not self.tasks and not self.blocked
