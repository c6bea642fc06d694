"""The Rewrite record and its registry: each module in rewrites/ makes one kind of edit; recipes refer to its name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from rocm3d.model.recipe import Parameters


class RewriteRefusedError(Exception):
    """The rewrite cannot make the edit safely. The message is the reason that the report shows."""


@dataclass(frozen=True)
class Rewrite:
    """One kind of edit. `edit(file bytes, recipe parameters)` returns the new bytes and is idempotent."""

    module: str
    edit: Callable[[bytes, Parameters], bytes]

    @property
    def name(self) -> str:
        """The module's last name; recipes refer to it."""
        return self.module.rsplit(".", 1)[-1]


@cache
def rewrites() -> dict[str, Rewrite]:
    """All rewrites by name: the `rewrite` of every module in rewrites/."""
    package = importlib.import_module("rocm3d.apply.rewrites")
    modules = (
        importlib.import_module(f"{package.__name__}.{module_info.name}")
        for module_info in pkgutil.iter_modules(package.__path__)
    )
    return {module.rewrite.name: module.rewrite for module in modules}


def list_parameter(parameters: Parameters, key: str) -> tuple[str, ...]:
    """The value as a tuple; a missing parameter is empty."""
    value = parameters.get(key, [])
    return tuple(value) if isinstance(value, list) else (str(value),)
