"""Predicates that host records refer to by function name; every module of this package is searched."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from rocm3d.model.registry import load_modules

if TYPE_CHECKING:
    from rocm3d.host.facts import Predicate


@cache
def predicates() -> Mapping[str, Predicate]:
    """All public functions that the modules of this package define, by name."""
    by_name: dict[str, Predicate] = {}
    for module in load_modules(__name__):
        for name, value in vars(module).items():
            if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__ and callable(value):
                assert name not in by_name, f"{name} is defined in two modules"
                by_name[name] = value
    return by_name
