"""Predicates that host records refer to by function name; every module of this package is searched."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.host.facts import Predicate


@cache
def predicates() -> Mapping[str, Predicate]:
    """All public functions that the modules of this package define, by name."""
    by_name: dict[str, Predicate] = {}
    for module_info in pkgutil.iter_modules(__path__):
        module = import_module(f"{__name__}.{module_info.name}")
        for name, value in vars(module).items():
            if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__ and callable(value):
                assert name not in by_name, f"{name} is defined in two modules"
                by_name[name] = value
    return by_name
