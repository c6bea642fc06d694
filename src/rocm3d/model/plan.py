"""The plan for one repository and one GPU: stack, routes, edits, and the rejected alternatives."""

from __future__ import annotations

from datetime import date

from pydantic import Field

from rocm3d.model.base import Document, Record, TreePath
from rocm3d.model.code import Effort
from rocm3d.model.errors import RefusedError
from rocm3d.model.finding import Finding
from rocm3d.model.inventory import HiddenFindings, OtherIndex, Readiness
from rocm3d.model.lock import GitPin, LockedPackage, UnlockedArtifact
from rocm3d.model.package import Decision, Licence
from rocm3d.model.plan_choices import LicenceRule, Platform, Preference
from rocm3d.model.recipe import Parameters, Safety
from rocm3d.model.source import Confidence, Source
from rocm3d.model.stack import Stack
from rocm3d.model.target import Gpu

KNOWN_PROJECT = "Known project: "


class ChosenStack(Record):
    """The chosen stack and the reason."""

    id: str
    reason: str


class RejectedAlternative(Record):
    """A rejected alternative, the reason, and what it would need to be chosen."""

    id: str
    reason: str
    would_need: str = ""


class DependencyDecision(Record):
    """The decision on one distribution. `route` is None if the package has no record."""

    name: str
    package: str | None
    decision: Decision
    route: str | None
    reason: str
    requirement: str = ""
    index: str = ""
    task: str = Field(default="", description="why a person installs it; empty: install.sh does")
    env: dict[str, str] = Field(default={})
    commands: tuple[tuple[str, ...], ...] = ()
    pin: GitPin | None = None
    unpinned: str = Field(default="", description="why the commit of its repository is not known")
    locked: tuple[LockedPackage, ...] = Field(default=(), description="releases that its commands install")
    needs: dict[str, str] = Field(default={}, description="versions of other distributions that the route requires")
    loses: str = Field(default="", description="features that are lost")
    import_kept: bool = True
    proof: str = ""
    traps: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    checked: date | None = None
    confidence: Confidence | None = None
    verified_on: tuple[str, ...] = ()
    alternatives: tuple[RejectedAlternative, ...] = ()

    @property
    def is_of_other_index(self) -> bool:
        """Whether it may come from an index that is not known to be public, so that PyPI must not be asked for it."""
        return self.package is None and bool(self.task or self.index or self.commands)


class ResolvedRequirements(Record):
    """The repository's requirements as a resolver answered on one day: all wheels, with their hashes."""

    packages: tuple[LockedPackage, ...] = ()
    unlocked: tuple[UnlockedArtifact, ...] = ()


class PlannedEdit(Record):
    """A recipe bound to one file, with everything that apply needs."""

    recipe: str
    rewrite: str
    parameters: Parameters
    safety: Safety
    check: str = Field(default="", description="what a reader of the edit checks, if safety is review")
    path: TreePath
    findings: tuple[Finding, ...] = Field(min_length=1)


class UnresolvedFinding(Record):
    """A finding without an automatic fix, and the effort for a person."""

    finding: Finding
    reason: str
    effort: Effort = "minutes"


class EffortCounts(Record):
    """Findings by remaining manual effort. Counts, no percentage: one rewrite costs more than a hundred edits."""

    none: int = 0
    minutes: int = 0
    hours: int = 0
    rewrite: int = 0

    def __str__(self) -> str:
        return f"{self.none} none, {self.minutes} minutes, {self.hours} hours, {self.rewrite} rewrite"


class PlannedPhase(Record):
    """One phase of the port. `skipped` is the reason why there is nothing to do; empty: it applies."""

    number: int
    title: str
    skipped: str = ""
    answered: int = 0
    left: int = 0
    do: tuple[str, ...] = ()

    @property
    def state(self) -> str:
        """One line for reports: skipped with the reason, or the counts of findings."""
        if self.skipped:
            return f"skipped: {self.skipped}"
        return f"{self.answered} answered, {self.left} left" if self.answered or self.left else "applies"


class LicenceNotice(Record):
    """A component whose licence terms need attention before shipping."""

    package: str
    licence: Licence


class Plan(Document):
    """plan.json. A pure function of scan, GPU, options and knowledge base: same input, same bytes."""

    repository: str
    known_as: str | None = None
    gpu: Gpu
    platform: Platform = "linux"
    prefer: Preference = "stable"
    stack: ChosenStack | None
    base: Stack | None
    rejected_stacks: tuple[RejectedAlternative, ...]
    decisions: tuple[DependencyDecision, ...]
    tools: tuple[LockedPackage, ...] = Field(default=(), description="releases of the build tools that install.sh adds")
    resolved: ResolvedRequirements | None = Field(default=None, description="only of `rocm3d plan --lock`")
    other_indexes: tuple[OtherIndex, ...] = ()
    edits: tuple[PlannedEdit, ...]
    answered: tuple[Finding, ...] = Field(description="resolved by a decision or by the install files of the port")
    left: tuple[UnresolvedFinding, ...]
    effort: EffortCounts = EffortCounts()
    phases: tuple[PlannedPhase, ...] = ()
    licences: tuple[LicenceNotice, ...] = ()
    hidden: tuple[HiddenFindings, ...] = Field(
        default=(), description="findings that the repository hides: no edit, but counted in decisions and readiness"
    )
    readiness: Readiness
    warnings: tuple[str, ...] = ()
    knowledge_date: str

    @property
    def stubs(self) -> tuple[DependencyDecision, ...]:
        """Packages that are replaced by a stub or substitute: listed in every report, never counted as verified."""
        return tuple(decision for decision in self.decisions if decision.decision in ("stub", "substitute"))

    @property
    def blocked(self) -> tuple[DependencyDecision, ...]:
        """Packages without a route."""
        return tuple(decision for decision in self.decisions if decision.decision == "blocked")

    def licence_refusal(self, rule: LicenceRule | None) -> str | None:
        """Why the licence policy refuses the plan; None if it does not."""
        if rule != "refuse" or not self.licences:
            return None
        terms = "; ".join(f"{notice.package} is under {notice.licence.name}" for notice in self.licences)
        return f"refused by the licence policy: {terms}"

    def require_licences(self, rule: LicenceRule | None) -> None:
        """Raises RefusedError if the licence policy refuses the plan."""
        reason = self.licence_refusal(rule)
        if reason is not None:
            raise RefusedError(reason)

    @property
    def losses(self) -> tuple[DependencyDecision, ...]:
        """Decisions that lose features, including stubs. The plan lists them first."""
        return tuple(decision for decision in self.decisions if decision.decision == "stub" or decision.loses)
