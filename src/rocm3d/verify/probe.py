"""What a probe is, and where they are found: each module below probes/ is one check."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal

from rocm3d.model.verdict import Level, Verdict
from rocm3d.verify.backends.environment import Environment
from rocm3d.verify.compilation.building import Building

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.inventory import Scan
    from rocm3d.model.patch import Patch
    from rocm3d.model.plan import Plan
    from rocm3d.verify.resolution.answer import Resolution
    from rocm3d.verify.runs.kept import Kept
    from rocm3d.workspace.tree import Tree


ResolverName = Literal["uv", "pip"]


@dataclass(frozen=True)
class Network:
    """Whether servers may be asked, and by which resolver. `refused` says why not; empty: they may.

    `answers` keeps what one probe was told for the next one that asks the same.
    """

    refused: str = "servers are asked only where that is wished for: rocm3d verify --level resolve"
    resolver: ResolverName = "uv"
    answers: dict[object, Resolution] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Case:
    """What there is to look at. `originals` lacks a path whose original is not on this machine."""

    plan: Plan
    patch: Patch
    tree: Tree
    originals: Mapping[str, bytes | None]
    now: Scan
    targets: tuple[str, ...]
    knowledge: Knowledge | None = None
    network: Network = field(default_factory=Network)
    environment: Environment = field(default_factory=Environment)
    building: Building = field(default_factory=Building)
    runs: tuple[Kept, ...] = ()


@dataclass(frozen=True)
class Probe:
    """One check, named for what it attempts. It gives one verdict, or one for each thing it looked at."""

    module: str
    level: Level
    attempt: Callable[[Case], Verdict | tuple[Verdict, ...]]
    asks_servers: bool = False

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.module.rsplit(".", 1)[-1]


@cache
def probes() -> tuple[Probe, ...]:
    """Every probe, by name. The package is walked; there is no list to edit."""
    package = importlib.import_module("rocm3d.verify.probes")
    names = sorted(item.name for item in pkgutil.iter_modules(package.__path__))
    return tuple(importlib.import_module(f"{package.__name__}.{name}").probe for name in names)
