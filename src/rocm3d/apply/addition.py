"""What an addition is, and where they are found: each module below additions/ makes new files for the port's folder."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.plan import Plan
    from rocm3d.workspace.tree import Tree


@dataclass(frozen=True)
class Addition:
    """New files by their path inside the port's folder, whose name is the third argument."""

    module: str
    render: Callable[[Plan, Tree, str], dict[str, bytes]]

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.module.rsplit(".", 1)[-1]


@cache
def additions() -> tuple[Addition, ...]:
    """Every addition, by name. The package is walked; there is no list to edit."""
    package = importlib.import_module("rocm3d.apply.additions")
    names = sorted(item.name for item in pkgutil.iter_modules(package.__path__))
    return tuple(importlib.import_module(f"{package.__name__}.{name}").addition for name in names)
