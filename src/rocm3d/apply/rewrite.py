"""The registry of rewrites: each module in rewrites/ makes one kind of edit; recipes refer to it by name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import cast

from rocm3d.model.recipe import Parameters

Rewrite = Callable[[bytes, Parameters], bytes]
"""From the bytes of a file and the recipe's parameters to the new bytes; idempotent."""


class RewriteRefusedError(Exception):
    """The rewrite cannot make the edit safely. The message is the reason that the report shows."""


@cache
def rewrite_names() -> frozenset[str]:
    """The names of all rewrites, without importing them."""
    return frozenset(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent / "rewrites")]))


def load_rewrite(name: str) -> Rewrite:
    """The `edit` of a module in rewrites/. Only those that a port needs are imported: together they take long."""
    return cast("Rewrite", importlib.import_module(f"rocm3d.apply.rewrites.{name}").edit)


def list_parameter(parameters: Parameters, key: str) -> tuple[str, ...]:
    """The value as a tuple; a missing parameter is empty."""
    value = parameters.get(key, [])
    return tuple(value) if isinstance(value, list) else (str(value),)
