"""Conditions of a machine that harm a port, and the diagnosis of one machine."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field, model_validator

from rocm3d.model.base import Document, Record
from rocm3d.model.plan_choices import Platform
from rocm3d.model.recipe import Parameters
from rocm3d.model.source import Confidence, Fact, Gfx, Identifier, Range, Source

Severity = Literal["error", "warning", "note"]


class PlanRelevance(Record):
    """Why a condition matters more for some plans. All keys that are set must match; the first match counts."""

    says: str
    severity: Severity | None = None
    packages: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    gfx: tuple[Gfx, ...] = ()
    rocm: Range = ""
    builds: bool = Field(default=False, description="the plan compiles something")


class Condition(Fact):
    """A file of knowledge/host/. `test` names a predicate in the code.

    `{name}` in remedy and check is replaced by a value that the predicate read. Notes are advice, not problems.
    """

    id: Identifier
    title: str
    severity: Severity
    test: str
    parameters: Parameters = Field(default={})
    platforms: tuple[Platform, ...] = ("linux", "wsl")
    container: bool | None = Field(default=None, description="true: only in containers; false: only outside")
    gpus: int = Field(default=0, description="minimum number of discrete GPUs")
    gfx: tuple[Gfx, ...] = ()
    architectures: tuple[Literal["cdna", "rdna", "gcn"], ...] = ()
    rocm: Range = ""
    torch: Range = ""
    needs_plan: bool = False
    why: str
    for_plan: tuple[PlanRelevance, ...] = ()
    remedy: tuple[str, ...] = Field(min_length=1)
    root: bool = False
    reboot: bool = False
    check: str
    advice: tuple[str, ...] = Field(default=(), description="ids of advice records on the same subject")

    @model_validator(mode="after")
    def _check_reboot_needs_root(self) -> Condition:
        if self.reboot and not self.root:
            raise ValueError("reboot needs root = true")
        return self


class Problem(Record):
    """A condition that holds on this machine. `for_plan` is empty without a plan."""

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


class UncheckedCondition(Record):
    """A condition that could not be checked, and the reason."""

    id: str
    title: str
    reason: str


class Diagnosis(Document):
    """The result of `rocm3d doctor`. `elsewhere` lists conditions that concern other machines or other plans."""

    machine: str
    taken: str
    gpus: tuple[str, ...]
    plan: str = ""
    problems: tuple[Problem, ...]
    unread: tuple[UncheckedCondition, ...]
    fine: tuple[str, ...]
    elsewhere: tuple[str, ...]
    lacks: str = Field(default="", description="why nothing was checked: no AMD GPU")
    knowledge_date: str

    @property
    def faults(self) -> tuple[Problem, ...]:
        """Errors and warnings, without notes."""
        return tuple(problem for problem in self.problems if problem.severity != "note")
