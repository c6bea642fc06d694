"""Chooses the stack: evaluates each one with all packages and records why the others were rejected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.errors import UserError
from rocm3d.model.plan import ChosenStack, DependencyDecision, RejectedAlternative
from rocm3d.model.plan_choices import Platform, Preference
from rocm3d.model.stack import Stack
from rocm3d.model.target import Gpu
from rocm3d.plan.bounds import RepositoryBounds
from rocm3d.plan.routes import RepositoryConstraints, RouteChoice, choose_routes, decide

# A blocked package, requirements that cannot be installed, or a lost feature always count first; the preference orders
# the other costs.
_FIRST_COSTS = ("blocked", "bounds", "lost")
_COST_ORDER: Mapping[Preference, tuple[str, ...]] = {
    "stable": ("pins", "stand-ins", "untried", "second", "builds", "unlike", "closed", "old"),
    "newest": ("old", "pins", "stand-ins", "second", "builds", "unlike", "closed"),
    "fewest-builds": ("builds", "pins", "stand-ins", "untried", "second", "unlike", "closed", "old"),
}


@dataclass(frozen=True)
class PlanOptions:
    """`rocm` is a release such as 7.2, or a range. `installed` is the installed torch, which --keep-torch keeps.

    `unresolved` has the stacks on which a resolver found no installation of the requirements, with its reason.
    """

    stack: str | None = None
    rocm: str = ""
    prefer: Preference = "stable"
    platform: Platform = "linux"
    installed: Stack | None = None
    unresolved: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rocm:
            _release_range(self.rocm)
        if self.installed is not None and (self.stack or self.rocm):
            raise UserError("--keep-torch excludes --stack and --rocm", hint="pass only one of them")

    def accepts_rocm(self, release: str) -> bool:
        return not self.rocm or _release_range(self.rocm).contains(release, prereleases=True)


def _release_range(text: str) -> SpecifierSet:
    """7 means ==7.*, 7.2 means ==7.2.*; a range stays as written."""
    specifier = text
    with suppress(InvalidVersion):
        Version(text)
        specifier = f"=={text}.*"
    try:
        return SpecifierSet(specifier)
    except InvalidSpecifier as error:
        raise UserError(f"--rocm {text}: not a release or a range", hint="for example 7.2 or '>=6.4,<8'") from error


@dataclass(frozen=True)
class StackCost:
    """One criterion by which stacks are compared; a lower value is better."""

    label: str
    value: int
    names: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """`blocked: gsplat, kaolin`, or the label alone."""
        return f"{self.label}: {', '.join(self.names)}" if self.names else self.label


@dataclass(frozen=True)
class StackEvaluation:
    """A stack with the decisions that it implies for all packages.

    `unmet` are bounds of the repository that it violates, `unlike` how it differs from the repository's environments.
    """

    stack: Stack
    decisions: tuple[DependencyDecision, ...]
    route_choices: Mapping[str, RouteChoice]
    unmet: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()

    def costs(self, prefer: Preference) -> list[StackCost]:
        """In order of importance."""
        parts = self._costs_by_key()
        return [parts[key] for key in (*_FIRST_COSTS, *_COST_ORDER[prefer])]

    def _costs_by_key(self) -> dict[str, StackCost]:
        released = self.stack.released
        below = {
            name: item.ranks_below_best for name, item in sorted(self.route_choices.items()) if item.ranks_below_best
        }
        missed = [name for name, item in sorted(self.route_choices.items()) if item.misses_pin]
        return {
            "blocked": self._decision_cost("blocked", "blocked"),
            "bounds": StackCost("does not fit the requirements", len(self.unmet), self.unmet),
            "unlike": StackCost("differs from the repository's environment", len(self.unlike), self.unlike),
            "lost": _name_cost(
                "features lost", [item.name for item in self.decisions if item.loses or item.decision == "stub"]
            ),
            "pins": _name_cost("differs from the known port", missed),
            "stand-ins": self._decision_cost("stubs or substitutes", "stub", "substitute"),
            "untried": StackCost("few packages are known to run on it", int(not self.stack.tried)),
            "second": StackCost("second-choice routes", sum(below.values()), tuple(below)),
            "builds": self._decision_cost("to build", "build"),
            "closed": StackCost(
                "fewer fallback packages", -sum(item.fallback_count for item in self.route_choices.values())
            ),
            "old": StackCost(f"older, released {released}", -released.toordinal()),
        }

    def _decision_cost(self, label: str, *decisions: str) -> StackCost:
        return _name_cost(label, [decision.name for decision in self.decisions if decision.decision in decisions])

    def sort_key(self, prefer: Preference) -> tuple[tuple[int, ...], int, str]:
        """Stacks are sorted by this key, best first; among equals the newer Python wins."""
        minor = int(self.stack.python.partition(".")[2])
        return tuple(cost.value for cost in self.costs(prefer)), -minor, self.stack.id

    @property
    def summary(self) -> str:
        """Counts of the main costs, the release date, and the number of fallback routes."""
        parts = self._costs_by_key()
        counts = ", ".join(f"{parts[key].value} {parts[key].label}" for key in ("blocked", "stand-ins", "builds"))
        fallbacks = [
            f"{name} {choice.fallback_count}"
            for name, choice in sorted(self.route_choices.items())
            if choice.fallback_count
        ]
        further = f"; fallback routes: {', '.join(fallbacks)}" if fallbacks else ""
        unmet = f"; {parts['bounds'].text}" if self.unmet else ""
        return f"{counts}, released {self.stack.released}{further}{unmet}"

    def reason_behind(self, best: StackEvaluation, prefer: Preference) -> str:
        """The first criterion in which this stack is worse than the best one."""
        pairs = zip(self.costs(prefer), best.costs(prefer), strict=True)
        return next((mine.text for mine, theirs in pairs if mine.value > theirs.value), "equal in every criterion")


def _name_cost(label: str, names: list[str]) -> StackCost:
    return StackCost(label, len(names), tuple(names))


@dataclass(frozen=True)
class StackCriteria:
    """What the stacks are evaluated for. `names` maps distributions to package ids."""

    names: Mapping[str, str | None]
    knowledge: Knowledge
    gpu: Gpu
    constraints: RepositoryConstraints
    bounds: RepositoryBounds = field(default_factory=RepositoryBounds)


def choose_stack(
    criteria: StackCriteria, options: PlanOptions
) -> tuple[ChosenStack | None, StackEvaluation | None, tuple[RejectedAlternative, ...]]:
    """The best stack for a GPU and these packages, and all others with the reason of rejection."""
    known = criteria.knowledge.stacks
    if options.stack is not None and options.stack not in known:
        raise UserError(f"unknown stack {options.stack!r}", hint=f"known stacks: {', '.join(sorted(known))}")
    stacks = (*known.values(), *([options.installed] if options.installed else []))
    checked = [(stack, _unusable_stack(stack, criteria.gpu, options)) for stack in stacks]
    rejected = [problem for _, problem in checked if problem is not None]
    evaluations = [evaluate_stack(stack, criteria) for stack, problem in checked if problem is None]
    if not evaluations:
        return None, None, tuple(sorted(rejected, key=lambda item: item.id))
    best, *others = sorted(evaluations, key=lambda item: item.sort_key(options.prefer))
    rejected += [
        RejectedAlternative(
            id=item.stack.id,
            reason=item.reason_behind(best, options.prefer),
            would_need=f"--stack {item.stack.id} to choose it anyway",
        )
        for item in others
    ]
    chosen = ChosenStack(id=best.stack.id, reason=f"{best.summary}{_bounds_note(best, others, options.prefer)}")
    return chosen, best, tuple(sorted(rejected, key=lambda item: item.id))


def _bounds_note(best: StackEvaluation, others: Sequence[StackEvaluation], prefer: Preference) -> str:
    """Names the stack that would have been chosen if the repository had no bounds, and what it violates."""
    unbound = min((best, *others), key=lambda item: replace(item, unmet=(), unlike=()).sort_key(prefer))
    return "" if unbound is best else f"; instead of {unbound.stack.id}: {unbound.reason_behind(best, prefer)}"


def evaluate_stack(stack: Stack, criteria: StackCriteria) -> StackEvaluation:
    packages = [
        criteria.knowledge.packages[name] for name in sorted({name for name in criteria.names.values() if name})
    ]
    route_choices = choose_routes(packages, stack, criteria.gpu, criteria.constraints)
    decisions = decide(criteria.names, route_choices, stack, criteria.gpu)
    retained = [item.name for item in decisions if item.decision == "keep"]
    unmet = criteria.bounds.unmet(stack, retained, criteria.knowledge.wheels)
    return StackEvaluation(stack, decisions, route_choices, unmet, criteria.bounds.unlike(stack))


def _unusable_stack(stack: Stack, gpu: Gpu, options: PlanOptions) -> RejectedAlternative | None:
    """Why a stack is rejected regardless of its packages; None if it is usable."""
    is_installed = options.installed is None or stack is options.installed
    has_rocm = options.installed is not None or options.accepts_rocm(stack.rocm)
    problems = (
        (is_installed, "--keep-torch keeps the installed version", "no --keep-torch"),
        (options.stack in (None, stack.id), f"--stack {options.stack} was chosen", f"--stack {stack.id}"),
        (has_rocm, f"has ROCm {stack.rocm}, not {options.rocm}", "another --rocm"),
        (gpu.gfx in stack.gfx, f"does not support {gpu.gfx}", f"a build for {gpu.gfx}"),
        (
            options.platform in stack.platforms,
            f"is only for {', '.join(stack.platforms)}",
            f"a release for {options.platform}",
        ),
        (
            stack.id not in options.unresolved,
            f"the requirements do not resolve: {options.unresolved.get(stack.id, '')}",
            f"--stack {stack.id} to choose it anyway",
        ),
    )
    rejected = (
        RejectedAlternative(id=stack.id, reason=reason, would_need=need) for fits, reason, need in problems if not fits
    )
    return next(rejected, None)
