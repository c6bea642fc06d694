"""Detectors and their matches. A rule has a module below detectors/, or names a generic matcher in its rule.toml."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
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
    own_packages: frozenset[str] = (
        frozenset()
    )  # packages that this repository provides; findings about them are dropped

    @cached_property
    def encoded_terms(self) -> tuple[bytes, ...]:
        """The terms of the code, encoded for searching in file contents."""
        return tuple(term.encode() for term in self.code.terms)

    def reason(self, name: str) -> str:
        """The text of the term that a name matches, which may have the wildcards `*` and `[...]`; empty without one."""
        terms = self.code.terms
        return terms.get(name) or next((why for term, why in terms.items() if fnmatchcase(name, term)), "")

    @property
    def parameters(self) -> dict[str, Parameter]:
        """Those of the rule's matcher."""
        return self.code.matcher.parameters if self.code.matcher else {}


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


def load_detector(rule: Rule) -> Detector:
    """The detector of an active rule."""
    if rule.matcher is None and rule.rule in module_names(DETECTORS):
        detector: Detector = load_module(DETECTORS, rule.rule).detector
        return detector
    if rule.matcher is None:
        raise UserError(f"rule {rule.rule} has neither a detector nor a matcher", hint="rocm3d kb check")
    parts = [(_loaded_matcher(rule, part), part) for part in rule.matcher.parts]
    if len(parts) == 1:
        matcher = parts[0][0]
        return Detector(rule.rule, rule.code, matcher.unit_types, matcher.find, matcher.prefilter)
    unit_types = tuple(dict.fromkeys(kind for matcher, _ in parts for kind in _as_tuple(matcher.unit_types)))
    detectors = [
        (Detector(rule.rule, rule.code, m.unit_types, m.find, m.prefilter), rule.model_copy(update={"matcher": part}))
        for m, part in parts
    ]
    combined = _CombinedMatchers(tuple(detectors))
    return Detector(rule.rule, rule.code, unit_types, combined.find, combined.can_match)


def _loaded_matcher(rule: Rule, part: RuleMatcher) -> Matcher:
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
    return matcher


class _CombinedMatchers:
    """The matchers of one rule. Each sees the rule as if it were the only one."""

    def __init__(self, detectors: tuple[tuple[Detector, Rule], ...]) -> None:
        self._detectors = detectors
        self._contexts: tuple[DetectorContext | None, tuple[DetectorContext, ...]] = (None, ())

    def can_match(self, unit: Unit, context: DetectorContext) -> bool:
        return any(detector.can_match(unit, part) for detector, part in self._parts(unit, context))

    def find(self, unit: Unit, context: DetectorContext) -> Iterator[Match | Clue]:
        for detector, part in self._parts(unit, context):
            if detector.can_match(unit, part):
                yield from detector.find(unit, part)

    def _parts(self, unit: Unit, context: DetectorContext) -> Iterator[tuple[Detector, DetectorContext]]:
        """The detectors for this type of unit, each with its context; the contexts of the last call are kept."""
        if self._contexts[0] is not context:
            self._contexts = context, tuple(replace(context, code=rule) for _, rule in self._detectors)
        for (detector, _), part in zip(self._detectors, self._contexts[1], strict=True):
            if isinstance(unit, detector.unit_types):
                yield detector, part


def _as_tuple(kinds: type[Unit] | tuple[type[Unit], ...]) -> tuple[type[Unit], ...]:
    return kinds if isinstance(kinds, tuple) else (kinds,)


def active_rules(knowledge: Knowledge) -> list[Rule]:
    """Sorted by code."""
    return [rule for _, rule in sorted(knowledge.codes.items()) if rule.status == "active"]
