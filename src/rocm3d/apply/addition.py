"""The registry of additions: each module in additions/ renders new files for the port folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from rocm3d.model.plan import Plan
from rocm3d.model.registry import load_module, module_names
from rocm3d.workspace.tree import Tree

Addition = Callable[[Plan, Tree, str], dict[str, bytes]]
"""From the plan, the tree and the port folder to new files by their path relative to that folder."""


@cache
def additions() -> dict[str, Addition]:
    """The `render` of every module in additions/, sorted by the module's name."""
    names = module_names("rocm3d.apply.additions")
    return {name: load_module("rocm3d.apply.additions", name).render for name in names}
