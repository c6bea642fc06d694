"""Detectors and their matches. A rule has a module below detectors/, or names a generic matcher in its rule.toml."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rocm3d.manifest.manifest import ParsedManifest
from rocm3d.model.errors import UserError
from rocm3d.model.registry import load_module, module_names
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from tree_sitter import Node

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Severity
    from rocm3d.model.rule import Parameter, Rule, RuleMatcher


DETECTORS, MATCHERS = "rocm3d.scan.detectors", "rocm3d.scan.matchers"


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

    code: Rule
    knowledge: Knowledge
    parameters: Mapping[str, Any] = field(default_factory=dict)  # those of the rule's matcher
    own_packages: frozenset[str] = frozenset()  # packages of this repository; findings about them are dropped

    @cached_property
    def encoded_terms(self) -> tuple[bytes, ...]:
        """The terms of the code, encoded for searching in file contents."""
        return tuple(term.encode() for term in self.code.terms)

    def reason(self, name: str) -> str:
        """The text of the term that a name matches, which may have the wildcards `*` and `[...]`; empty without one."""
        terms = self.code.terms
        return terms.get(name) or next((why for term, why in terms.items() if fnmatchcase(name, term)), "")


Find = Callable[[Any, DetectorContext], Iterable["Match | Clue"]]
Prefilter = tuple[bytes, ...] | Callable[[Any, DetectorContext], bool]


@dataclass(frozen=True)
class Matcher:
    """A generic matcher, for every rule that names it. `parameters` has their allowed values, or a type."""

    unit_types: type[Unit] | tuple[type[Unit], ...]
    find: Find
    prefilter: Prefilter = ()
    parameters: Mapping[str, tuple[Parameter, ...] | type] = field(default_factory=dict)
    required: tuple[str, ...] = ()

    def accepts(self, name: str, value: Parameter) -> bool:
        allowed = self.parameters.get(name, ())
        return isinstance(value, allowed) if isinstance(allowed, type) else value in allowed


@dataclass(frozen=True)
class Detector:
    """One rule, named after its module. `find` only searches; it never edits.

    `prefilter` is a cheap test before the parse: byte strings of which one must occur, or a predicate. A file that
    fails it cannot contain a match and is not parsed for this rule.
    """

    module: str
    code: str
    unit_types: type[Unit] | tuple[type[Unit], ...]
    find: Find
    prefilter: Prefilter = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)  # those of a matcher, checked

    @property
    def rule(self) -> str:
        """The rule name: the last part of the module name."""
        return self.module.rsplit(".", 1)[-1]

    def can_match(self, unit: Unit, context: DetectorContext) -> bool:
        if callable(self.prefilter):
            return self.prefilter(unit, context)
        return not self.prefilter or any(required in getattr(unit, "data", b"") for required in self.prefilter)


def context_of(detector: Detector, knowledge: Knowledge, own_packages: frozenset[str] = frozenset()) -> DetectorContext:
    return DetectorContext(knowledge.codes[detector.code], knowledge, detector.parameters, own_packages)


def match_at(unit: CudaUnit | PythonUnit, node: Node, **facts: str) -> Match:
    line, column = unit.text.position(node.start_byte)
    return Match(line, column, facts)


def load_detectors(rule: Rule) -> tuple[Detector, ...]:
    """The detectors of an active rule: its own module, or one for each of its matchers."""
    if rule.matcher is not None:
        return tuple(_matcher_detector(rule, part) for part in rule.matcher.parts)
    if rule.rule not in module_names(DETECTORS):
        raise UserError(f"rule {rule.rule} has neither a detector nor a matcher", hint="rocm3d kb check")
    return (load_module(DETECTORS, rule.rule).detector,)


def _matcher_detector(rule: Rule, part: RuleMatcher) -> Detector:
    if part.kind not in module_names(MATCHERS):
        hint = f"known matchers: {', '.join(module_names(MATCHERS))}"
        raise UserError(f"rule {rule.rule}: unknown matcher {part.kind!r}", hint=hint)
    matcher: Matcher = load_module(MATCHERS, part.kind).matcher
    for name, value in part.parameters.items():
        if not matcher.accepts(name, value):
            hint = f"known parameters: {', '.join(matcher.parameters)}"
            raise UserError(f"rule {rule.rule}: matcher {part.kind} has no {name} = {value!r}", hint=hint)
    for name in matcher.required:
        if name not in part.parameters:
            raise UserError(f"rule {rule.rule}: matcher {part.kind} needs the parameter {name}")
    return Detector(rule.rule, rule.code, matcher.unit_types, matcher.find, matcher.prefilter, part.parameters)


def active_rules(knowledge: Knowledge) -> list[Rule]:
    """Sorted by code."""
    return [rule for _, rule in sorted(knowledge.codes.items()) if rule.status == "active"]
