"""What a package that stands in for another says of itself. Importing one imports no torch."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

import rocm3d_kernels

DISTRIBUTION = "rocm3d-kernels"
DOCS = "docs/kernels.md#what-is-covered"
HOME = f"{__package__}.packages"


@dataclass(frozen=True)
class StandIn:
    """One CUDA-only package.

    `modules` maps each import name to the module of ours whose __all__ it shows, relative to the declaring package;
    empty for a package without contents of its own. `proof` is Python that runs only where the real one works.
    `version` is the release that importlib.metadata names: one whose interface is covered, of a library of many parts
    the part that libraries above ask it for; None where that is not so, and there is no answer. `keeps` is what of an
    installed package stays its own, since it holds no kernel: modules by their names, and names at the top of the
    package by the module that has them.
    """

    name: str
    modules: Mapping[str, str]
    proof: str
    distribution: str = ""
    version: str | None = None
    keeps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def implementing(self, name: str) -> str:
        """The full name of our module behind an import name; empty for none."""
        return f"{HOME}.{self.name}.{self.modules[name]}" if self.modules[name] else ""

    def kept(self, name: str) -> bool:
        """Whether a module is left to the installed package, if there is one."""
        return any(name == one or name.startswith(f"{one}.") for one in self.keeps)

    def home(self, name: str) -> str:
        """The kept module that a name at the top of the package comes from; empty for none."""
        return next((module for module, names in self.keeps.items() if name in names), "")


class Identity(dict[str, Any]):
    """`module.__rocm3d__`: what it stands in for, of which distribution and version. As text, one line for a report."""

    def __str__(self) -> str:
        return f"{self['distribution']} {self['version']}"


def identity(stand_in: StandIn) -> Identity:
    """The honest name of our module."""
    return Identity(stands_in_for=stand_in.name, version=rocm3d_kernels.__version__, distribution=DISTRIBUTION)


@cache
def known() -> dict[str, StandIn]:
    """All of them, by the first part of each import name that they provide; packages are walked."""
    found = {}
    for item in pkgutil.iter_modules(import_module(HOME).__path__):
        declared: StandIn = import_module(f"{HOME}.{item.name}").STAND_IN
        for name in declared.modules:
            found[name] = declared
    return found
