"""What to do about a repository on one GPU, and what was considered and turned down."""

from __future__ import annotations

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.finding import Finding
from rocm3d.model.inventory import Readiness
from rocm3d.model.package import Decision
from rocm3d.model.recipe import Parameters, Safety
from rocm3d.model.source import Source
from rocm3d.model.stack import Stack
from rocm3d.model.target import Gpu


class Chosen(Record):
    """What was taken, and why."""

    id: str
    reason: str


class Rejected(Record):
    """What was turned down, and why: a plan without this is an opinion."""

    id: str
    reason: str


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
    proof: str = ""
    traps: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
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
    """A finding that no active recipe answers."""

    finding: Finding
    reason: str


class Plan(Document):
    """plan.json. A pure function of scan, GPU and knowledge: same input, same bytes."""

    repository: str
    gpu: Gpu
    stack: Chosen | None
    base: Stack | None
    rejected_stacks: tuple[Rejected, ...]
    decisions: tuple[DependencyDecision, ...]
    edits: tuple[PlannedEdit, ...]
    answered: tuple[Finding, ...] = Field(description="answered by a decision or by the port's own install files")
    left: tuple[LeftForPerson, ...]
    readiness: Readiness
    warnings: tuple[str, ...] = ()
    knowledge_date: str

    @property
    def stubs(self) -> tuple[DependencyDecision, ...]:
        """What stands in for a module without being it: named in every report, never counted as verified."""
        return tuple(item for item in self.decisions if item.decision in ("stub", "substitute"))
