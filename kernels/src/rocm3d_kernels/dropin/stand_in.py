"""Declaration of a drop-in package, and the list of all of them. Imports no torch."""

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
    """A CUDA-only package that we replace.

    `modules` maps each import name to our module with the same public names, relative to the declaring package; empty
    for a package without contents. `probe_code` is Python that succeeds only if the original package works. `version`
    is the release that importlib.metadata reports, if its interface is covered as far as dependent libraries use it;
    None: importlib.metadata does not list the package. `original_modules` maps modules without kernels, which are
    loaded from the installed original package, to the names that they provide at the top of the package.
    """

    name: str
    modules: Mapping[str, str]
    proof: str
    distribution: str = ""
    version: str | None = None
    keeps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def implementing(self, name: str) -> str:
        """The full name of our module behind an import name; empty if there is none."""
        return f"{HOME}.{self.name}.{self.modules[name]}" if self.modules[name] else ""

    def kept(self, name: str) -> bool:
        """Whether a module is loaded from the installed original package."""
        return any(name == one or name.startswith(f"{one}.") for one in self.keeps)

    def home(self, name: str) -> str:
        """The module of the original package that provides a name at its top; empty if there is none."""
        return next((module for module, names in self.keeps.items() if name in names), "")


class Identity(dict[str, Any]):
    """`module.__rocm3d__`: the replaced package, our distribution and version. As text, distribution and version."""

    def __str__(self) -> str:
        return f"{self['distribution']} {self['version']}"


def identity(stand_in: StandIn) -> Identity:
    """The value of `__rocm3d__` of a drop-in's modules."""
    return Identity(stands_in_for=stand_in.name, version=rocm3d_kernels.__version__, distribution=DISTRIBUTION)


@cache
def known() -> dict[str, StandIn]:
    """All drop-ins, by each import name that they provide."""
    found = {}
    for item in pkgutil.iter_modules(import_module(HOME).__path__):
        declared: StandIn = import_module(f"{HOME}.{item.name}").STAND_IN
        for name in declared.modules:
            found[name] = declared
    return found
