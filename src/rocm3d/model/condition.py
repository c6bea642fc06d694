"""A state of a machine that hurts a port, as a record; and a machine held against all of them."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field, model_validator

from rocm3d.model.base import Document, Record
from rocm3d.model.recipe import Parameters
from rocm3d.model.source import Confidence, Fact, Gfx, Identifier, Range, Source
from rocm3d.model.wish import Platform

Severity = Literal["error", "warning", "note"]


class ForPlan(Record):
    """Why it matters more for some plans. Every key that is given must fit; of several entries the first one counts."""

    says: str
    severity: Severity | None = None
    packages: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    gfx: tuple[Gfx, ...] = ()
    rocm: Range = ""
    builds: bool = Field(default=False, description="the plan compiles something")


class Condition(Fact):
    """A file of knowledge/host/. `test` names a predicate of the code; the rest says when to ask it and what to do.

    `{name}` in remedy and check is what the predicate read. Notes are advice: they are no problem.
    """

    id: Identifier
    title: str
    severity: Severity
    test: str
    parameters: Parameters = Field(default={})
    platforms: tuple[Platform, ...] = ("linux", "wsl")
    container: bool | None = Field(default=None, description="only inside of one, or only outside")
    gpus: int = Field(default=0, description="at least so many GPUs that are no part of a processor")
    gfx: tuple[Gfx, ...] = ()
    architectures: tuple[Literal["cdna", "rdna", "gcn"], ...] = ()
    rocm: Range = ""
    torch: Range = ""
    needs_plan: bool = False
    why: str
    for_plan: tuple[ForPlan, ...] = ()
    remedy: tuple[str, ...] = Field(min_length=1)
    root: bool = False
    reboot: bool = False
    check: str
    advice: tuple[str, ...] = Field(default=(), description="judged advice that speaks of the same")

    @model_validator(mode="after")
    def _a_reboot_needs_root(self) -> Condition:
        if self.reboot and not self.root:
            raise ValueError("reboot: whoever boots a machine anew is root")
        return self


class Problem(Record):
    """A condition that holds here: what was read, why it matters, what to do. `for_plan` is empty without a plan."""

    id: str
    title: str
    severity: Severity
    read: tuple[str, ...]
    why: str
    for_plan: str = ""
    remedy: tuple[str, ...]
    root: bool = False
    reboot: bool = False
    check: str
    checked: date
    confidence: Confidence
    sources: tuple[Source, ...]


class Unread(Record):
    """A condition that could not be looked at, and why: it is not known to be fine."""

    id: str
    title: str
    reason: str


class Diagnosis(Document):
    """What `rocm3d doctor` shows. `fine` were looked at; `elsewhere` are about other machines, or other plans."""

    machine: str
    taken: str
    gpus: tuple[str, ...]
    plan: str = ""
    problems: tuple[Problem, ...]
    unread: tuple[Unread, ...]
    fine: tuple[str, ...]
    elsewhere: tuple[str, ...]
    lacks: str = Field(default="", description="why nothing was looked at: there is no AMD GPU")
    knowledge_date: str

    @property
    def faults(self) -> tuple[Problem, ...]:
        """Errors and warnings: what makes a machine unsound. Notes are advice."""
        return tuple(item for item in self.problems if item.severity != "note")
