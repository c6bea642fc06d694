"""The input of predicates: a snapshot, the knowledge base, and optionally a plan."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from packaging.version import InvalidVersion, Version

from rocm3d.host.installed_torch import InstalledTorch
from rocm3d.knowledge.base import Knowledge
from rocm3d.model.condition import Condition
from rocm3d.model.plan import DependencyDecision, Plan
from rocm3d.model.plan_choices import Platform
from rocm3d.model.snapshot import GraphicsCard, Interpreter, Snapshot

GIB = 1 << 30


class NotKnownError(Exception):
    """The snapshot lacks a value, so the condition was not checked."""


@dataclass(frozen=True)
class Reading:
    """Result of a condition that holds: the observed facts as texts, and values for the remedy's placeholders."""

    observations: tuple[str, ...]
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MachineFacts:
    """Snapshot, knowledge base and plan, with values derived from them."""

    snapshot: Snapshot
    knowledge: Knowledge
    plan: Plan | None = None

    @property
    def cards(self) -> tuple[GraphicsCard, ...]:
        """GPUs that are used for computing."""
        return self.snapshot.cards

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """The target of the plan, else the targets of all cards."""
        if self.plan is not None:
            return (self.plan.gpu.gfx,)
        return tuple(dict.fromkeys(card.gfx for card in self.cards if card.gfx))

    @property
    def known_cards(self) -> tuple[GraphicsCard, ...]:
        """Like `cards`; raises NotKnownError if there are none."""
        if not self.cards:
            raise NotKnownError("the GPU model is unknown inside WSL" if self.snapshot.wsl else "no GPU is known")
        return self.cards

    @property
    def discrete_cards(self) -> list[GraphicsCard]:
        """GPUs of the compute driver that have memory of their own."""
        return [card for card in self.snapshot.gpus if not card.integrated and card.kfd]

    @property
    def platform(self) -> Platform:
        """The platform name that plans use."""
        return "wsl" if self.snapshot.wsl else "linux"

    @property
    def python(self) -> Interpreter:
        """The user's interpreter; raises NotKnownError if there is none."""
        if self.snapshot.python is None:
            reason = self.snapshot.no_python or "no interpreter was checked"
            raise NotKnownError(reason if "--python" in reason else f"{reason}: pass one with --python")
        return self.snapshot.python

    @property
    def torch(self) -> Version | None:
        python = self.snapshot.python
        return parse_version(python.torch) if python and python.torch else None

    @property
    def torch_rocm(self) -> Version | None:
        """The ROCm that the installed torch was built for."""
        python = self.snapshot.python
        if python is None or not python.hip:
            return None
        return parse_version(InstalledTorch(python.torch, python.hip, python.version).rocm)

    @property
    def rocm(self) -> Version | None:
        """The ROCm that programs use: that of torch, else the newest installed one."""
        versions = (parse_version(install.version) for install in self.snapshot.rocm)
        return self.torch_rocm or max((install for install in versions if install is not None), default=None)

    @cached_property
    def decisions(self) -> tuple[DependencyDecision, ...]:
        """Decisions of the plan that install or keep something."""
        planned = self.plan.decisions if self.plan else ()
        return tuple(decision for decision in planned if decision.decision not in ("drop", "blocked"))

    @property
    def builds(self) -> tuple[str, ...]:
        """Names of the packages that the plan compiles."""
        return tuple(decision.name for decision in self.decisions if decision.decision == "build")

    def variable(self, name: str) -> str | None:
        """Value of an environment variable; None if it is not set."""
        return self.snapshot.variables.get(name)


Predicate = Callable[[MachineFacts, "Condition"], Reading | None]
"""Returns None if the condition does not hold; raises NotKnownError if the snapshot lacks a value."""


def require(value: object, reason: str) -> None:
    """Raises NotKnownError if a value is zero, empty or None."""
    if not value:
        raise NotKnownError(reason)


def parse_version(text: str) -> Version | None:
    """Parse a version; None if it is invalid."""
    try:
        return Version(text)
    except InvalidVersion:
        return None


def shell_quote(text: str) -> str:
    """Quote a path for the shell; a leading ~ stays unquoted so that the shell expands it."""
    return text if re.fullmatch(r"[\w@%+=:,./~-]+", text) else shlex.quote(text)


def text_parameters(condition: Condition, name: str) -> tuple[str, ...]:
    """A parameter of a condition as a tuple of texts; empty if it is missing."""
    value = condition.parameters.get(name, [])
    return tuple(value) if isinstance(value, list) else (str(value),)


def integer_parameter(condition: Condition, name: str) -> int:
    value = condition.parameters[name]
    assert isinstance(value, int)
    return value


def format_bytes(size: int) -> str:
    """Bytes as a text in GiB or MiB."""
    if size >= 100 * GIB:
        return f"{size / GIB:.0f} GiB"
    return f"{size / GIB:.3g} GiB" if size >= GIB // 4 else f"{size / (1 << 20):.3g} MiB"
