"""What a detector is, and where they are found: each module below detectors/ is one rule."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from rocm3d.manifest.manifest import Manifest
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from tree_sitter import Node

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.code import Code
    from rocm3d.model.finding import Severity


@dataclass(frozen=True)
class Paths:
    """The names of all files: for rules that need no bytes, or more than one file."""

    paths: tuple[str, ...]


Unit = CudaUnit | PythonUnit | Manifest | Paths


@dataclass(frozen=True)
class Hit:
    """A place where the pattern stands. `facts` fill the {braces} of the code's message and hint."""

    line: int
    column: int
    facts: dict[str, str] = field(default_factory=dict)
    package: str | None = None
    severity: Severity | None = None  # where this place is better or worse than the rule as a whole
    path: str = ""  # only for rules over Paths, which have no file of their own


@dataclass(frozen=True)
class Look:
    """What a detector may consult: its own code (with the terms to look for) and the knowledge base."""

    code: Code
    knowledge: Knowledge


@dataclass(frozen=True)
class Detector:
    """One rule. Its name is the module's; `find` matches and never edits.

    `needs` is a cheap filter: a file that holds none of these bytes cannot have a hit and is not parsed for this rule.
    """

    module: str
    code: str
    reads: type[Unit] | tuple[type[Unit], ...]
    find: Callable[[Any, Look], Iterable[Hit]]
    needs: tuple[bytes, ...] = ()

    @property
    def rule(self) -> str:
        """The pattern it finds."""
        return self.module.rsplit(".", 1)[-1]

    def may_find(self, unit: Unit) -> bool:
        """Whether the unit is of the kind it reads and holds what it needs."""
        if not isinstance(unit, self.reads):
            return False
        return not self.needs or any(word in getattr(unit, "data", b"") for word in self.needs)


def hit(unit: CudaUnit | PythonUnit, node: Node, **facts: str) -> Hit:
    """A hit at the start of a syntax node."""
    line, column = unit.text.place(node.start_byte)
    return Hit(line, column, facts)


@cache
def detectors() -> tuple[Detector, ...]:
    """Every detector, by code. The package is walked; there is no list to edit."""
    package = importlib.import_module("rocm3d.scan.detectors")
    modules = (item.name for item in pkgutil.walk_packages(package.__path__, f"{package.__name__}.") if not item.ispkg)
    found = [importlib.import_module(name).detector for name in modules]
    return tuple(sorted(found, key=lambda detector: detector.code))
