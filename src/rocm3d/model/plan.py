"""What to do about a repository on one GPU, and what was considered and turned down."""

from __future__ import annotations

from datetime import date

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.code import Effort
from rocm3d.model.finding import Finding
from rocm3d.model.inventory import Readiness
from rocm3d.model.package import Decision, Licence
from rocm3d.model.recipe import Parameters, Safety
from rocm3d.model.source import Confidence, Source
from rocm3d.model.stack import Stack
from rocm3d.model.target import Gpu
from rocm3d.model.wish import LicenceRule, Platform, Preference


class Chosen(Record):
    """What was taken, and why."""

    id: str
    reason: str


class Rejected(Record):
    """What was turned down, why, and what would have to change for it: a plan without this is an opinion."""

    id: str
    reason: str
    would_need: str = ""


class DependencyDecision(Record):
    """What happens to one distribution. `route` is None where no record speaks of the package."""

    name: str
    package: str | None
    decision: Decision
    route: str | None
    reason: str
    requirement: str = ""
    index: str = ""
    env: dict[str, str] = Field(default={})
    commands: tuple[tuple[str, ...], ...] = ()
    needs: dict[str, str] = Field(default={}, description="versions of other distributions that the route takes")
    loses: str = Field(default="", description="what the program goes without")
    import_kept: bool = True
    proof: str = ""
    traps: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    checked: date | None = None
    confidence: Confidence | None = None
    verified_on: tuple[str, ...] = ()
    alternatives: tuple[Rejected, ...] = ()


class PlannedEdit(Record):
    """A recipe bound to one file: all that apply needs to do it."""

    recipe: str
    rewrite: str
    parameters: Parameters
    safety: Safety
    path: str
    findings: tuple[Finding, ...] = Field(min_length=1)


class LeftForPerson(Record):
    """A finding that no active recipe answers, and what one such place costs."""

    finding: Finding
    reason: str
    effort: Effort = "minutes"


class EffortCounts(Record):
    """Findings by what they still cost a person. Never a percentage: one rewrite outweighs a hundred edits."""

    none: int = 0
    minutes: int = 0
    hours: int = 0
    rewrite: int = 0

    def __str__(self) -> str:
        return f"{self.none} none, {self.minutes} minutes, {self.hours} hours, {self.rewrite} rewrite"


class PlannedPhase(Record):
    """One step of the port. `skipped` says why there is nothing to do; empty: it applies."""

    number: int
    title: str
    skipped: str = ""
    answered: int = 0
    left: int = 0
    do: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """Skipped and why, or what it holds."""
        if self.skipped:
            return f"skipped: {self.skipped}"
        return f"{self.answered} answered, {self.left} left" if self.answered or self.left else "applies"


class LicenceNotice(Record):
    """A component whose terms are worth reading before anything is shipped."""

    package: str
    licence: Licence


class Plan(Document):
    """plan.json. A pure function of scan, GPU, wishes and knowledge: same input, same bytes."""

    repository: str
    known_as: str | None = None
    gpu: Gpu
    platform: Platform = "linux"
    prefer: Preference = "stable"
    stack: Chosen | None
    base: Stack | None
    rejected_stacks: tuple[Rejected, ...]
    decisions: tuple[DependencyDecision, ...]
    edits: tuple[PlannedEdit, ...]
    answered: tuple[Finding, ...] = Field(description="answered by a decision or by the port's own install files")
    left: tuple[LeftForPerson, ...]
    effort: EffortCounts = EffortCounts()
    phases: tuple[PlannedPhase, ...] = ()
    licences: tuple[LicenceNotice, ...] = ()
    readiness: Readiness
    warnings: tuple[str, ...] = ()
    knowledge_date: str

    @property
    def stubs(self) -> tuple[DependencyDecision, ...]:
        """What stands in for a module without being it: named in every report, never counted as verified."""
        return tuple(item for item in self.decisions if item.decision in ("stub", "substitute"))

    def refused_by(self, rule: LicenceRule | None) -> str | None:
        """Why the licence policy turns the plan down; None where it does not."""
        if rule != "refuse" or not self.licences:
            return None
        terms = "; ".join(f"{item.package} is under {item.licence.name}" for item in self.licences)
        return f"refused by the licence policy: {terms}"

    @property
    def losses(self) -> tuple[DependencyDecision, ...]:
        """Stubs and whatever turns a feature off: named first in the plan."""
        return tuple(item for item in self.decisions if item.decision == "stub" or item.loses)
