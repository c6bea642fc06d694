"""What a detector is, and where they are found: each module below detectors/ is one rule."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
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
    """The names of all files: for rules over names. `read` gives the bytes of the few that a rule must look into."""

    paths: tuple[str, ...]
    read: Callable[[str], bytes | None] = lambda _: None


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
    clue: str = ""  # it counts only where some file of the repository gives this clue
    unless: str = ""  # it counts only where no file gives this one


@dataclass(frozen=True)
class Clue:
    """What one file tells about the repository, for hits of the same rule in other files."""

    name: str


@dataclass(frozen=True)
class Look:
    """What a detector may consult: its own code (with the terms to look for) and the knowledge base."""

    code: Code
    knowledge: Knowledge
    own: frozenset[str] = frozenset()  # packages that the repository is itself; findings about them are dropped

    @cached_property
    def words(self) -> tuple[bytes, ...]:
        """The terms of the code as bytes."""
        return tuple(term.encode() for term in self.code.terms)


@dataclass(frozen=True)
class Detector:
    """One rule. Its name is the module's; `find` matches and never edits.

    `needs` is a cheap filter, as bytes of which one must be there, or as a question: a file that it turns down cannot
    have a hit and is not parsed for this rule.
    """

    module: str
    code: str
    reads: type[Unit] | tuple[type[Unit], ...]
    find: Callable[[Any, Look], Iterable[Hit | Clue]]
    needs: tuple[bytes, ...] | Callable[[Any, Look], bool] = ()

    @property
    def rule(self) -> str:
        """The pattern it finds."""
        return self.module.rsplit(".", 1)[-1]

    def may_find(self, unit: Unit, look: Look) -> bool:
        """Whether a unit of the kind it reads holds what it needs."""
        if callable(self.needs):
            return self.needs(unit, look)
        return not self.needs or any(word in getattr(unit, "data", b"") for word in self.needs)


def hit(unit: CudaUnit | PythonUnit, node: Node, **facts: str) -> Hit:
    """A hit at the start of a syntax node."""
    line, column = unit.text.place(node.start_byte)
    return Hit(line, column, facts)


@cache
def modules() -> dict[str, str]:
    """The module of every rule. The package is walked; there is no list to edit."""
    package = importlib.import_module("rocm3d.scan.detectors")
    walked = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return {item.name.rsplit(".", 1)[-1]: item.name for item in walked if not item.ispkg}


@cache
def detector_of(rule: str) -> Detector:
    """The detector of a rule, loaded when it is asked for."""
    found: Detector = importlib.import_module(modules()[rule]).detector
    return found


@cache
def detectors() -> tuple[Detector, ...]:
    """Every detector, by code."""
    return tuple(sorted(map(detector_of, modules()), key=lambda detector: detector.code))
