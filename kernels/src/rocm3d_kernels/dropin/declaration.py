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
PACKAGES = f"{__package__}.packages"


@dataclass(frozen=True)
class DropIn:
    """A CUDA-only package that we replace.

    `modules` maps each import name to our module with the same public names, relative to the declaring package; empty
    for a package without contents. `probe_code` is Python that succeeds only if the original package works. `version`
    is the release that importlib.metadata reports, if its interface is covered as far as dependent libraries use it;
    None: importlib.metadata does not list the package. `original_modules` maps modules without kernels, which are
    loaded from the installed original package, to the names that they provide at the top of the package.
    """

    name: str
    modules: Mapping[str, str]
    probe_code: str
    distribution: str = ""
    version: str | None = None
    original_modules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def implementation_of(self, name: str) -> str:
        """The full name of our module behind an import name; empty if there is none."""
        return f"{PACKAGES}.{self.name}.{self.modules[name]}" if self.modules[name] else ""

    def is_original_module(self, name: str) -> bool:
        """Whether a module is loaded from the installed original package."""
        return any(name == one or name.startswith(f"{one}.") for one in self.original_modules)

    def original_module_of(self, name: str) -> str:
        """The module of the original package that provides a name at its top; empty if there is none."""
        return next((module for module, names in self.original_modules.items() if name in names), "")


class DropInIdentity(dict[str, Any]):
    """`module.__rocm3d__`: the replaced package, our distribution and version. As text, distribution and version."""

    def __str__(self) -> str:
        return f"{self['distribution']} {self['version']}"


def identity(drop_in: DropIn) -> DropInIdentity:
    """The value of `__rocm3d__` of a drop-in's modules."""
    return DropInIdentity(stands_in_for=drop_in.name, version=rocm3d_kernels.__version__, distribution=DISTRIBUTION)


@cache
def all_drop_ins() -> dict[str, DropIn]:
    """All drop-ins, by each import name that they provide."""
    drop_ins = {}
    for info in pkgutil.iter_modules(import_module(PACKAGES).__path__):
        declared: DropIn = import_module(f"{PACKAGES}.{info.name}").DROP_IN
        for name in declared.modules:
            drop_ins[name] = declared
    return drop_ins
