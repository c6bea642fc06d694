"""Chooses the stack: evaluates each one with all packages and records why the others were rejected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.failure import UserError
from rocm3d.model.plan import ChosenStack, DependencyDecision, RejectedAlternative
from rocm3d.plan.dependencies import decide
from rocm3d.plan.routes import settle

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.stack import Stack
    from rocm3d.model.target import Gpu
    from rocm3d.model.wish import Preference
    from rocm3d.plan.routes import Circumstances, Routed
    from rocm3d.plan.wishes import Wishes


@dataclass(frozen=True)
class Cost:
    """One criterion by which stacks are compared; a lower value is better."""

    word: str
    value: int
    names: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """`blocked: gsplat, kaolin`, or the label alone."""
        return f"{self.word}: {', '.join(self.names)}" if self.names else self.word


# A blocked package or a lost feature always counts first; the preference orders the other costs.
_ALWAYS = ("blocked", "lost")
_ORDER: Mapping[Preference, tuple[str, ...]] = {
    "stable": ("pins", "stand-ins", "untried", "second", "builds", "closed", "old"),
    "newest": ("old", "pins", "stand-ins", "second", "builds", "closed"),
    "fewest-builds": ("builds", "pins", "stand-ins", "untried", "second", "closed", "old"),
}


@dataclass(frozen=True)
class Judged:
    """A stack with the decisions that it implies for all packages."""

    stack: Stack
    decisions: tuple[DependencyDecision, ...]
    routed: Mapping[str, Routed]

    def costs(self, prefer: Preference) -> list[Cost]:
        """In order of importance."""
        parts = self._parts()
        return [parts[key] for key in (*_ALWAYS, *_ORDER[prefer])]

    def _parts(self) -> dict[str, Cost]:
        released = self.stack.released
        below = {name: item.below_best for name, item in sorted(self.routed.items()) if item.below_best}
        missed = [name for name, item in sorted(self.routed.items()) if item.misses_pin]
        lost = [item.name for item in self.decisions if item.loses or item.decision == "stub"]
        return {
            "blocked": self._counted("blocked", "blocked"),
            "lost": _listed("features lost", lost),
            "pins": _listed("differs from the known port", missed),
            "stand-ins": self._counted("stubs or substitutes", "stub", "substitute"),
            "untried": Cost("few packages are known to run on it", int(not self.stack.tried)),
            "second": Cost("second-choice routes", sum(below.values()), tuple(below)),
            "builds": self._counted("to build", "build"),
            "closed": Cost("fewer fallback packages", -sum(item.open_ways for item in self.routed.values())),
            "old": Cost(f"older, released {released}", -released.toordinal()),
        }

    def _counted(self, word: str, *decisions: str) -> Cost:
        return _listed(word, [item.name for item in self.decisions if item.decision in decisions])

    def key(self, prefer: Preference) -> tuple[tuple[int, ...], int, str]:
        """Stacks are sorted by this key, best first; among equals the newer Python wins."""
        minor = int(self.stack.python.partition(".")[2])
        return tuple(cost.value for cost in self.costs(prefer)), -minor, self.stack.id

    @property
    def summary(self) -> str:
        """Counts of the main costs, the release date, and the number of fallback routes."""
        parts = self._parts()
        counts = ", ".join(f"{parts[key].value} {parts[key].word}" for key in ("blocked", "stand-ins", "builds"))
        ways = [f"{name} {item.open_ways}" for name, item in sorted(self.routed.items()) if item.open_ways]
        further = f"; fallback routes: {', '.join(ways)}" if ways else ""
        return f"{counts}, released {self.stack.released}{further}"

    def behind(self, best: Judged, prefer: Preference) -> str:
        """The first criterion in which this stack is worse than the best one."""
        pairs = zip(self.costs(prefer), best.costs(prefer), strict=True)
        return next((mine.told for mine, theirs in pairs if mine.value > theirs.value), "equal in every criterion")


def _listed(word: str, names: list[str]) -> Cost:
    return Cost(word, len(names), tuple(names))


@dataclass(frozen=True)
class Question:
    """What the stacks are evaluated for. `names` maps distributions to package ids."""

    names: Mapping[str, str | None]
    knowledge: Knowledge
    gpu: Gpu
    given: Circumstances


def choose(asked: Question, wishes: Wishes) -> tuple[ChosenStack | None, Judged | None, tuple[RejectedAlternative, ...]]:
    """The best stack for a GPU and these packages, and all others with the reason of rejection."""
    known = asked.knowledge.stacks
    if wishes.stack is not None and wishes.stack not in known:
        raise UserError(f"unknown stack {wishes.stack!r}", hint=f"known stacks: {', '.join(sorted(known))}")
    rejected: list[RejectedAlternative] = []
    judged: list[Judged] = []
    for stack in (*known.values(), *([wishes.installed] if wishes.installed else [])):
        problem = _unusable(stack, asked.gpu, wishes)
        if problem is None:
            judged.append(judge(stack, asked))
        else:
            rejected.append(problem)
    if not judged:
        return None, None, tuple(sorted(rejected, key=lambda item: item.id))
    best, *others = sorted(judged, key=lambda item: item.key(wishes.prefer))
    rejected += [_outdone(item, best, wishes) for item in others]
    return ChosenStack(id=best.stack.id, reason=best.summary), best, tuple(sorted(rejected, key=lambda item: item.id))


def judge(stack: Stack, asked: Question) -> Judged:
    packages = [asked.knowledge.packages[name] for name in sorted({name for name in asked.names.values() if name})]
    routed = settle(packages, stack, asked.gpu, asked.given)
    return Judged(stack, decide(asked.names, routed, stack, asked.gpu), routed)


def _outdone(item: Judged, best: Judged, wishes: Wishes) -> RejectedAlternative:
    would = f"--stack {item.stack.id} to choose it anyway"
    return RejectedAlternative(id=item.stack.id, reason=item.behind(best, wishes.prefer), would_need=would)


def _unusable(stack: Stack, gpu: Gpu, wishes: Wishes) -> RejectedAlternative | None:
    """Why a stack is rejected regardless of its packages; None if it is usable."""
    if wishes.installed is not None and stack is not wishes.installed:
        return RejectedAlternative(id=stack.id, reason="--keep-torch keeps the installed torch", would_need="no --keep-torch")
    if wishes.stack is not None and stack.id != wishes.stack:
        return RejectedAlternative(id=stack.id, reason=f"--stack {wishes.stack} was chosen", would_need=f"--stack {stack.id}")
    if wishes.installed is None and not wishes.takes_rocm(stack.rocm):
        reason = f"has ROCm {stack.rocm}, not {wishes.rocm}"
        return RejectedAlternative(id=stack.id, reason=reason, would_need="another --rocm")
    if gpu.gfx not in stack.gfx:
        return RejectedAlternative(id=stack.id, reason=f"does not support {gpu.gfx}", would_need=f"a build for {gpu.gfx}")
    if wishes.platform not in stack.platforms:
        reason = f"is only for {', '.join(stack.platforms)}"
        return RejectedAlternative(id=stack.id, reason=reason, would_need=f"a release for {wishes.platform}")
    return None
