"""What a rewrite is, and where they are found: each module below rewrites/ is one edit, named by recipes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from rocm3d.model.recipe import Parameters


class Refuse(Exception):  # noqa: N818  (an answer, not an error)
    """The edit is not certain, so it is not made; the reason goes into the report."""


@dataclass(frozen=True)
class Rewrite:
    """One edit. `edit` gets a file's bytes and the recipe's parameters; twice is the same as once."""

    module: str
    edit: Callable[[bytes, Parameters], bytes]

    @property
    def name(self) -> str:
        """What recipes call it."""
        return self.module.rsplit(".", 1)[-1]


@cache
def rewrites() -> dict[str, Rewrite]:
    """Every rewrite by name. The package is walked; there is no list to edit."""
    package = importlib.import_module("rocm3d.apply.rewrites")
    modules = (
        importlib.import_module(f"{package.__name__}.{item.name}") for item in pkgutil.iter_modules(package.__path__)
    )
    return {module.rewrite.name: module.rewrite for module in modules}


def words(parameters: Parameters, key: str) -> tuple[str, ...]:
    """A list parameter; absent means empty."""
    given = parameters.get(key, [])
    return tuple(given) if isinstance(given, list) else (str(given),)
