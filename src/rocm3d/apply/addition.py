"""The registry of additions: each module in additions/ renders new files for the port folder."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

from rocm3d.model.plan import Plan
from rocm3d.workspace.tree import Tree

Addition = Callable[[Plan, Tree, str], dict[str, bytes]]
"""From the plan, the tree and the port folder to new files by their path relative to that folder."""


@cache
def additions() -> dict[str, Addition]:
    """The `render` of every module in additions/, sorted by the module's name."""
    names = sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent / "additions")]))
    return {name: importlib.import_module(f"rocm3d.apply.additions.{name}").render for name in names}
