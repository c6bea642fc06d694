"""Detectors and their matches. Each module below detectors/ implements one rule."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from tree_sitter import Node

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.code import Code
    from rocm3d.model.finding import Severity


@dataclass(frozen=True)
class RepositoryPaths:
    """All file paths of the repository, for rules over file names. `read` returns the bytes of one file."""

    paths: tuple[str, ...]
    read: Callable[[str], bytes | None] = lambda _: None


Unit = CudaUnit | PythonUnit | ParsedManifest | RepositoryPaths


@dataclass(frozen=True)
class Match:
    """A position where the pattern of a rule occurs. `facts` fill the {placeholders} of the code's message and hint."""

    line: int
    column: int
    facts: dict[str, str] = field(default_factory=dict)
    package: str | None = None
    severity: Severity | None = None  # overrides the severity of the rule
    path: str = ""  # only for rules over file names, whose unit is not one file
    clue: str = ""  # reported only if some file of the repository has this clue
    unless: str = ""  # reported only if no file has this clue


@dataclass(frozen=True)
class Clue:
    """A fact about the repository, found in one file, that decides about matches of the same rule in other files."""

    name: str


@dataclass(frozen=True)
class DetectorContext:
    """What a detector may consult: its code with the terms to search for, and the knowledge base."""

    code: Code
    knowledge: Knowledge
    own_packages: frozenset[str] = (
        frozenset()
    )  # packages that this repository provides; findings about them are dropped

    @cached_property
    def encoded_terms(self) -> tuple[bytes, ...]:
        """The terms of the code, encoded for searching in file contents."""
        return tuple(term.encode() for term in self.code.terms)


@dataclass(frozen=True)
class Detector:
    """One rule, named after its module. `find` only searches; it never edits.

    `prefilter` is a cheap test before the parse: byte strings of which one must occur, or a predicate. A file that
    fails it cannot contain a match and is not parsed for this rule.
    """

    module: str
    code: str
    unit_types: type[Unit] | tuple[type[Unit], ...]
    find: Callable[[Any, DetectorContext], Iterable[Match | Clue]]
    prefilter: tuple[bytes, ...] | Callable[[Any, DetectorContext], bool] = ()

    @property
    def rule(self) -> str:
        """The rule name: the last part of the module name."""
        return self.module.rsplit(".", 1)[-1]

    def can_match(self, unit: Unit, context: DetectorContext) -> bool:
        if callable(self.prefilter):
            return self.prefilter(unit, context)
        return not self.prefilter or any(required in getattr(unit, "data", b"") for required in self.prefilter)


def match_at(unit: CudaUnit | PythonUnit, node: Node, **facts: str) -> Match:
    line, column = unit.text.position(node.start_byte)
    return Match(line, column, facts)


@cache
def rule_modules() -> dict[str, str]:
    """The module name of every rule, found by walking the package."""
    package = importlib.import_module("rocm3d.scan.detectors")
    module_infos = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return {info.name.rsplit(".", 1)[-1]: info.name for info in module_infos if not info.ispkg}


@cache
def load_detector(rule: str) -> Detector:
    detector: Detector = importlib.import_module(rule_modules()[rule]).detector
    return detector


@cache
def all_detectors() -> tuple[Detector, ...]:
    """Every detector, sorted by code."""
    return tuple(sorted(map(load_detector, rule_modules()), key=lambda detector: detector.code))
