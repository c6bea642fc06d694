"""What a probe is, and where they are found: each module below probes/ is one check."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rocm3d.model.verdict import Level, Verdict

if TYPE_CHECKING:
    from rocm3d.model.inventory import Scan
    from rocm3d.model.patch import Patch
    from rocm3d.model.plan import Plan
    from rocm3d.workspace.tree import Tree


@dataclass(frozen=True)
class Case:
    """What there is to look at. `originals` lacks a path whose original is not on this machine."""

    plan: Plan
    patch: Patch
    tree: Tree
    originals: Mapping[str, bytes | None]
    now: Scan
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Probe:
    """One check, named for what it attempts."""

    module: str
    level: Level
    attempt: Callable[[Case], Verdict]

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
