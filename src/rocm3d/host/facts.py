"""What a predicate is asked about: a snapshot, what is known, and the plan that the machine is meant for."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from rocm3d.host.installed_torch import InstalledTorch

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.condition import Condition
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.model.snapshot import GraphicsCard, Interpreter, Snapshot
    from rocm3d.model.wish import Platform

GIB = 1 << 30


class NotKnownError(Exception):
    """The snapshot does not say: the condition was not looked at."""


@dataclass(frozen=True)
class Reading:
    """A condition holds: what was read, in words, and values for the remedy."""

    seen: tuple[str, ...]
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """All there is to judge by."""

    snapshot: Snapshot
    knowledge: Knowledge
    plan: Plan | None = None

    @property
    def cards(self) -> tuple[GraphicsCard, ...]:
        """GPUs worth computing on."""
        return self.snapshot.cards

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """The gfx ids that matter: the plan's alone, else those of the cards."""
        if self.plan is not None:
            return (self.plan.gpu.gfx,)
        return tuple(dict.fromkeys(card.gfx for card in self.cards if card.gfx))

    @property
    def known_cards(self) -> tuple[GraphicsCard, ...]:
        """The same, where a condition cannot be judged without them."""
        if not self.cards:
            raise NotKnownError("which GPU this is, only Windows knows" if self.snapshot.wsl else "no GPU is known")
        return self.cards

    @property
    def platform(self) -> Platform:
        """As plans name it."""
        return "wsl" if self.snapshot.wsl else "linux"

    @property
    def python(self) -> Interpreter:
        """The target's interpreter."""
        if self.snapshot.python is None:
            raise NotKnownError(f"{self.snapshot.no_python or 'no interpreter was asked'}: name one with --python")
        return self.snapshot.python

    @property
    def torch(self) -> Version | None:
        """The release of the installed torch."""
        python = self.snapshot.python
        return version(python.torch) if python and python.torch else None

    @property
    def torch_rocm(self) -> Version | None:
        """The ROCm that the installed torch was built for."""
        python = self.snapshot.python
        if python is None or not python.hip:
            return None
        return version(InstalledTorch(python.torch, python.hip, python.version).rocm)

    @property
    def rocm(self) -> Version | None:
        """The ROCm that programs would meet: torch's own, else the newest one installed."""
        found = (version(item.version) for item in self.snapshot.rocm)
        return self.torch_rocm or max((item for item in found if item is not None), default=None)

    @cached_property
    def decisions(self) -> tuple[DependencyDecision, ...]:
        """Of the plan, those that put something in place."""
        chosen = self.plan.decisions if self.plan else ()
        return tuple(item for item in chosen if item.decision not in ("drop", "blocked"))

    @property
    def builds(self) -> tuple[str, ...]:
        """What the plan compiles, by name."""
        return tuple(item.name for item in self.decisions if item.decision == "build")

    def variable(self, name: str) -> str | None:
        """An environment variable, None where it is not set."""
        return self.snapshot.variables.get(name)


Predicate = Callable[[Facts, "Condition"], Reading | None]
"""None: the condition does not hold. NotKnownError: the snapshot does not tell."""


def version(text: str) -> Version | None:
    """A version, None where it is none."""
    try:
        return Version(text)
    except InvalidVersion:
        return None


def shell(text: str) -> str:
    """A path as a command takes it; ~ stays what it is, and a stranger's path is one word whatever is in it."""
    return text if re.fullmatch(r"[\w@%+=:,./~-]+", text) else shlex.quote(text)


def words(condition: Condition, name: str) -> tuple[str, ...]:
    """A parameter that is a list of words."""
    value = condition.parameters.get(name, [])
    return tuple(value) if isinstance(value, list) else (str(value),)


def number(condition: Condition, name: str) -> int:
    """A parameter that is a whole number."""
    value = condition.parameters[name]
    assert isinstance(value, int)
    return value


def gib(size: int) -> str:
    """Bytes in words."""
    if size >= 100 * GIB:
        return f"{size / GIB:.0f} GiB"
    return f"{size / GIB:.3g} GiB" if size >= GIB // 4 else f"{size / (1 << 20):.3g} MiB"
