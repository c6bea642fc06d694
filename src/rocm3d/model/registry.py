"""Packages whose modules are found, not listed: a new file is a new rule, rewrite, probe, tool or subcommand."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType


@cache
def module_names(package: str) -> dict[str, str]:
    """The full name of every module in a package and its subpackages, by its last name. Imports none of them."""
    folders = importlib.import_module(package).__path__
    names = sorted(info.name for info in pkgutil.walk_packages(folders, f"{package}.") if not info.ispkg)
    by_last_name = {name.rsplit(".", 1)[-1]: name for name in names}
    assert len(by_last_name) == len(names), f"two modules of {package} have the same name"
    return by_last_name


def load_module(package: str, name: str) -> ModuleType:
    """One module of a package by its last name, without importing the others. Raises ModuleNotFoundError."""
    return importlib.import_module(module_names(package).get(name, f"{package}.{name}"))


def load_modules(package: str) -> list[ModuleType]:
    """All modules of a package, sorted by name."""
    return [importlib.import_module(name) for name in module_names(package).values()]
