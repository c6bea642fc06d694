"""The state of a port: one rung for each thing that has to be shown, each with its own outcome."""

from __future__ import annotations

import re
from typing import Literal, get_args

from pydantic import model_validator

from rocm3d.model.base import Record

RungName = Literal["scanned", "planned", "edited", "resolved", "compiled", "imported", "ran", "judged"]
RungOutcome = Literal["complete", "partial", "failed", "not_run", "not_applicable"]
RUNGS: tuple[RungName, ...] = get_args(RungName)
DEFAULT_BAR: RungName = "compiled"
# The commands of the documents are for the repository's own folder, so that no document holds a path of this machine.
_OWN_FOLDER = re.compile(r"(rocm3d [a-z]+) \.(?= |$)")


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
    """All rungs in order. Counted separately: tasks for a person, packages without a route, stubs and substitutes.

    `next` is the command that gets this machine further; empty if there is none.
    """

    rungs: tuple[Rung, ...]
    tasks: int = 0
    blocked: tuple[str, ...] = ()
    stubs: tuple[str, ...] = ()
    next: str = ""

    @model_validator(mode="after")
    def _check(self) -> PortState:
        if tuple(rung.name for rung in self.rungs) != RUNGS:
            raise ValueError(f"the rungs are not {', '.join(RUNGS)}")
        return self

    @property
    def current(self) -> Rung | None:
        """The first rung that is not complete: the state of the port. None if all are."""
        return next((rung for rung in self.rungs if rung.is_open), None)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is open: no rung, no task, and nothing that a stub or substitute leaves unverified."""
        return self.current is None and not (self.tasks or self.blocked or self.stubs)

    def rung(self, name: RungName) -> Rung:
        return self.rungs[RUNGS.index(name)]

    def reaches(self, until: RungName) -> bool:
        """Whether the port meets a bar: every rung up to `until`, and from `edited` on no task and no blocked package.

        The rung `resolved` needs the network, so it counts for itself and for the bars after `compiled` alone.
        """
        required = RUNGS[: RUNGS.index(until) + 1]
        if until == "compiled":
            required = tuple(name for name in required if name != "resolved")
        met = not any(rung.is_open for rung in self.rungs if rung.name in required)
        return met and (until in ("scanned", "planned") or not (self.tasks or self.blocked))

    def for_path(self, path: str) -> PortState:
        """With commands for a user who is not in the folder of the repository. `path` is quoted for a shell."""
        rungs = tuple(
            rung.model_copy(update={"next": _for_path(rung.next, path), "reason": _name_path(rung.reason, path)})
            for rung in self.rungs
        )
        return self.model_copy(update={"rungs": rungs, "next": _for_path(self.next, path)})


def _name_path(text: str, path: str) -> str:
    return _OWN_FOLDER.sub(lambda match: f"{match[1]} {path}", text)


def _for_path(command: str, path: str) -> str:
    if not command or path == "." or command.startswith("rocm3d toolchain "):
        return command
    if _OWN_FOLDER.match(command):
        return _name_path(command, path)
    return f"cd {path} && {command}"
