"""The registry of rewrites: each module in rewrites/ makes one kind of edit; recipes refer to it by name."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import cast

from rocm3d.model.recipe import Parameters
from rocm3d.model.registry import load_module, module_names

REWRITES = "rocm3d.apply.rewrites"

Rewrite = Callable[[bytes, Parameters], bytes]
"""From the bytes of a file and the recipe's parameters to the new bytes; idempotent."""


class RewriteRefusedError(Exception):
    """The rewrite cannot make the edit safely. The message is the reason that the report shows."""


class EditNotNeededError(RewriteRefusedError):
    """The code is right on ROCm as it is. The message says why."""


class EditLeftOutError(RewriteRefusedError):
    """The edit could be made, and the user left it out."""


def rewrite_names() -> Set[str]:
    """The names of all rewrites, without importing them."""
    return module_names(REWRITES).keys()


def load_rewrite(name: str) -> Rewrite:
    """The `edit` of a module in rewrites/. Only those that a port needs are imported: together they take long."""
    return cast("Rewrite", load_module(REWRITES, name).edit)


def list_parameter(parameters: Parameters, key: str) -> tuple[str, ...]:
    """The value as a tuple; a missing parameter is empty."""
    value = parameters.get(key, [])
    return tuple(value) if isinstance(value, list) else (str(value),)
