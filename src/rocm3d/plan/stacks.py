"""Choosing the stack: each is judged against all packages at once, and the losers keep their reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.failure import UserError
from rocm3d.model.plan import Chosen, DependencyDecision, Rejected
from rocm3d.plan.dependencies import decide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.inventory import Dependency
    from rocm3d.model.stack import Stack
    from rocm3d.model.target import Gpu


@dataclass(frozen=True)
class Judged:
    """A stack with what it would mean for every package."""

    stack: Stack
    decisions: tuple[DependencyDecision, ...]

    def names(self, *decisions: str) -> list[str]:
        """Packages that would get one of these decisions here."""
        return [item.name for item in self.decisions if item.decision in decisions]

    @property
    def cost(self) -> tuple[int, int, int, int, str]:
        """Blocked first, then stand-ins, then builds; among equals the newest release."""
        blocked, stand_ins, builds = (len(self.names(*kind)) for kind in _COSTS.values())
        return blocked, stand_ins, builds, -self.stack.released.toordinal(), self.stack.id

    @property
    def summary(self) -> str:
        """The cost in words."""
        counts = (f"{len(self.names(*kind))} {word}" for word, kind in _COSTS.items())
        return f"{', '.join(counts)}, released {self.stack.released}"

    def behind(self, best: Judged) -> str:
        """The first thing in which this stack is worse than the best one."""
        for word, kind in _COSTS.items():
            if len(self.names(*kind)) > len(best.names(*kind)):
                return f"{word}: {', '.join(self.names(*kind))}"
        return f"no better, and released {self.stack.released}"


_COSTS = {"blocked": ("blocked",), "stand-ins": ("stub", "substitute"), "to build": ("build",)}


def choose(
    dependencies: Sequence[Dependency], knowledge: Knowledge, gpu: Gpu, asked: str | None
) -> tuple[Chosen | None, Judged | None, tuple[Rejected, ...]]:
    """The best stack for a GPU and these packages, and every other one with its reason."""
    if asked is not None and asked not in knowledge.stacks:
        raise UserError(f"no stack is called {asked!r}", hint=f"known are {', '.join(sorted(knowledge.stacks))}")
    rejected: list[Rejected] = []
    judged: list[Judged] = []
    for stack in knowledge.stacks.values():
        reason = _unusable(stack, gpu, asked)
        if reason is None:
            judged.append(Judged(stack, decide(dependencies, knowledge, stack, gpu)))
        else:
            rejected.append(Rejected(id=stack.id, reason=reason))
    if not judged:
        return None, None, tuple(sorted(rejected, key=lambda item: item.id))
    best, *others = sorted(judged, key=lambda item: item.cost)
    rejected += [Rejected(id=item.stack.id, reason=item.behind(best)) for item in others]
    return Chosen(id=best.stack.id, reason=best.summary), best, tuple(sorted(rejected, key=lambda item: item.id))


def _unusable(stack: Stack, gpu: Gpu, asked: str | None) -> str | None:
    if asked is not None and stack.id != asked:
        return f"{asked} was asked for"
    if gpu.gfx not in stack.gfx:
        return f"has no code for {gpu.gfx}"
    return None if "linux" in stack.platforms else f"is for {', '.join(stack.platforms)}"
