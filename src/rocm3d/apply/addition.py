"""The Addition record and its registry: each module in additions/ renders new files for the port folder."""

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
    """`render(plan, tree, folder)` returns new files by their path relative to the port folder `folder`."""

    module: str
    render: Callable[[Plan, Tree, str], dict[str, bytes]]

    @property
    def name(self) -> str:
        """The module's last name; reports use it."""
        return self.module.rsplit(".", 1)[-1]


@cache
def additions() -> tuple[Addition, ...]:
    """All additions, sorted by name: the `addition` of every module in additions/."""
    package = importlib.import_module("rocm3d.apply.additions")
    names = sorted(module_info.name for module_info in pkgutil.iter_modules(package.__path__))
    return tuple(importlib.import_module(f"{package.__name__}.{name}").addition for name in names)
