"""Runs the query of a rule over one file: what the matchers cuda_syntax and python_syntax share.

A pattern with the capture `@match` gives findings at that node. Its other captures are facts for the message, those
named `@text.NAME` as they are written. Captures named `@known.NAME` collect nodes: patterns further below can ask for
them. Every predicate can be negated: `#not-term?`.

    #eq? @a "text" or @b     #any-of? @a "text" ...      #match? @a "regex"      as in tree-sitter
    #term? @a                the name is a term of the rule, whose reason becomes the fact `why`
    #term-prefix? @a         it starts with a term
    #term-inside? @a         a term occurs in its text, not within a longer word; the first such term of the rule
    #count? @a "number"      it has so many children
    #known? @a "NAME"        its text was collected as @known.NAME; without @a: anything was collected
    #within? @a "NAME"       it is, or is inside of, a node that was collected as @known.NAME
    #above? @a "NAME" "type" ...   it is above such a node, with only nodes of these types between them
    #inside? @a "type" ...   a node of one of these types contains it
    #file-has? "regex"       the file contains it

A predicate without a capture is decided first: where it is false, no node is searched and the file need not be parsed.

`(#set! NAME "value")` adds a fact; {placeholders} in the value stand for other facts, or for `term`. Three names are
special: `severity`; `term`, whose reason is the fact `why`; `once`, for the findings of this pattern only.

Parameters: `query`; `contains`, texts of which a file must contain one, with any spaces around `::` (default: the
terms); `once`, which keeps the first finding for each `file`, `term`, `line`, or text of a fact of that name;
`outermost`, no findings within another.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

from tree_sitter import Node

from rocm3d.model.errors import UserError
from rocm3d.scan.detector import DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_text
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.query import Captures, Predicate, QueryPattern, parse_query

PARAMETERS: Mapping[str, Any] = {"query": str, "contains": list, "once": str, "outermost": (True, False)}

_SEVERITY, _TERM, _ONCE = "severity", "term", "once"
_MATCH, _KNOWN, _TEXT = "match", "known.", "text."

_Test = Callable[[Captures], bool]


@dataclass(frozen=True)
class _Collected:
    """The nodes that patterns collected under one name."""

    nodes: tuple[Node, ...] = ()
    names: frozenset[str] = frozenset()

    def spans(self, node: Node) -> bool:
        """Whether one of the nodes contains this one."""
        starts, ends = self._ranges
        index = bisect_right(starts, node.start_byte) - 1
        return index >= 0 and node.end_byte <= ends[index]

    @cached_property
    def _ranges(self) -> tuple[list[int], list[int]]:
        """Sorted start offsets, and the largest end offset up to each."""
        ranges = sorted((node.start_byte, node.end_byte) for node in self.nodes)
        return [start for start, _ in ranges], list(accumulate((end for _, end in ranges), max))


@dataclass
class SyntaxSearch:
    """The state of a query while it runs over one file. A subclass says how names and facts are read."""

    unit: CudaUnit | PythonUnit
    context: DetectorContext
    known: dict[str, _Collected] = field(default_factory=dict)
    term: str = ""
    found_facts: dict[str, str] = field(default_factory=dict)  # of the predicates for one match
    _above: dict[tuple[str, ...], set[int]] = field(default_factory=dict)

    def name(self, node: Node) -> str:
        """The text that is compared with terms."""
        raise NotImplementedError

    def fact(self, node: Node) -> str:
        """The text of a node in a message."""
        return self._written(node)

    def is_relevant(self, node: Node) -> bool:
        """Whether a finding at this node concerns a port."""
        raise NotImplementedError

    def run(self) -> Iterator[Match]:
        parameters = self.context.parameters
        found: list[_Found] = []
        for pattern in parse_query(str(parameters["query"]), self.unit.language):
            tests = [(self._test(predicate), _reads_node(predicate)) for predicate in pattern.predicates]
            if all(test({}) for test, reads_node in tests if not reads_node):
                found += self._run_pattern(pattern, [test for test, reads_node in tests if reads_node])
        yield from _filtered(sorted(found, key=lambda item: item.node.start_byte), parameters)

    def _run_pattern(self, pattern: QueryPattern, tests: list[_Test]) -> Iterator[_Found]:
        collected: dict[str, list[Node]] = {}
        for captures in pattern.matches(self.unit):
            self.term, self.found_facts, node = pattern.settings.get(_TERM, ""), {}, captures.get(_MATCH)
            if not all(test(captures) for test in tests) or (node is not None and not self.is_relevant(node)):
                continue
            for name, captured in captures.items():
                if name.startswith(_KNOWN):
                    collected.setdefault(name.removeprefix(_KNOWN), []).append(captured)
            if node is not None:
                once = pattern.settings.get(_ONCE, self.context.parameters.get(_ONCE, ""))
                yield _Found(node, self._match(node, captures, pattern.settings), self.term, str(once))
        self._above.clear()
        for name, nodes in collected.items():
            before = self.known.get(name, _Collected())
            names = before.names.union(map(self.name, nodes))
            self.known[name] = _Collected((*before.nodes, *nodes), names)

    def _match(self, node: Node, captures: Captures, settings: Mapping[str, str]) -> Match:
        names = [name for name in captures if name != _MATCH]
        facts = {name: self.fact(captures[name]) for name in names if "." not in name}
        facts |= {n.removeprefix(_TEXT): self._written(captures[n]) for n in names if n.startswith(_TEXT)}
        facts |= self.found_facts
        if self.term:
            facts["why"] = self.context.code.terms[self.term]
        constants = {name: value for name, value in settings.items() if name not in (_SEVERITY, _TERM, _ONCE)}
        facts |= {name: value.format_map({_TERM: self.term, **facts}) for name, value in constants.items()}
        severity: Any = settings.get(_SEVERITY)
        place = match_at(self.unit, node)
        return Match(place.line, place.column, facts, severity=severity)

    def _written(self, node: Node) -> str:
        return " ".join(self.unit.head(node).split())

    def _test(self, predicate: Predicate) -> _Test:
        positive = predicate.name.removeprefix("not-")
        method: Callable[..., bool] | None = getattr(self, f"is_{positive.replace('-', '_')}", None)
        if method is None:
            raise UserError(f"query: unknown predicate #{predicate.name}?")
        test, is_negated, arguments = method, positive != predicate.name, predicate.arguments

        def holds(captures: Captures) -> bool:
            values = [captures.get(item[1:]) if item.startswith("@") else item for item in arguments]
            return (None not in values and test(*values)) != is_negated

        def holds_for_node(captures: Captures) -> bool:  # the usual form: one node and constants
            node = captures.get(arguments[0][1:])
            return (node is not None and test(node, *arguments[1:])) != is_negated

        reads_one_node = [item.startswith("@") for item in arguments] == [True] + [False] * (len(arguments) - 1)
        return holds_for_node if reads_one_node else holds

    def is_eq(self, node: Node, other: Node | str) -> bool:
        return self.is_any_of(node, other if isinstance(other, str) else self.unit.slice(other))

    def is_any_of(self, node: Node, *texts: str) -> bool:
        # A longer node is not read, because nested nodes may all be long.
        return node.end_byte - node.start_byte <= 4 * max(map(len, texts)) and self.unit.slice(node) in texts

    def is_match(self, node: Node, pattern: str) -> bool:
        return re.search(pattern, self.unit.slice(node)) is not None

    def is_term(self, node: Node) -> bool:
        self.term = name if (name := self.name(node)) in self.context.code.terms else ""
        return bool(self.term)

    def is_term_prefix(self, node: Node) -> bool:
        name = self.name(node)
        self.term = max((term for term in self.context.code.terms if name.startswith(term)), key=len, default="")
        return bool(self.term)

    def is_term_inside(self, node: Node) -> bool:
        text = self.unit.slice(node)
        words = ((term, rf"(?<![\w.]){re.escape(term)}") for term in self.context.code.terms)
        self.term = next((term for term, pattern in words if re.search(pattern, text)), "")
        return bool(self.term)

    def is_count(self, node: Node, number: str) -> bool:
        return sum(child.type != "comment" for child in node.named_children) == int(number)

    def is_known(self, *arguments: Node | str) -> bool:
        *nodes, name = arguments
        names = self.known.get(str(name), _Collected()).names
        return all(self.name(node) in names for node in nodes if isinstance(node, Node)) and bool(names)

    def is_within(self, node: Node, name: str) -> bool:
        return self.known.get(name, _Collected()).spans(node)

    def is_above(self, node: Node, name: str, *kinds: str) -> bool:
        """The nodes above the collected ones are found once: a path ends where another one has passed."""
        key = (name, *kinds)
        if key not in self._above:
            above = self._above[key] = set()
            for below in self.known.get(name, _Collected()).nodes:
                for parent in self.ancestors(below):
                    if parent.type not in kinds or parent.id in above:
                        break
                    above.add(parent.id)
        return node.id in self._above[key]

    def is_inside(self, node: Node, *kinds: str) -> bool:
        return any(above.type in kinds for above in self.ancestors(node))

    def is_file_has(self, pattern: str) -> bool:
        return re.search(pattern.encode(), self.unit.data) is not None

    def ancestors(self, node: Node) -> Iterator[Node]:
        above = self.unit.parents.get(node.id)
        while above is not None:
            yield above
            above = self.unit.parents.get(above.id)


def _reads_node(predicate: Predicate) -> bool:
    return any(item.startswith("@") for item in predicate.arguments)


@dataclass(frozen=True)
class _Found:
    node: Node
    match: Match
    term: str
    once: str


def _filtered(found: list[_Found], parameters: Mapping[str, Any]) -> Iterator[Match]:
    end = -1
    reported: set[tuple[str, str | int | None]] = set()
    for item in found:
        node, match, once = item.node, item.match, item.once
        keys: dict[str, str | int] = {"": node.id, "file": "", "line": match.line, "term": item.term}
        key = (once, keys.get(once, match.facts.get(once)))
        if key in reported or (node.start_byte < end and parameters.get("outermost")):
            continue
        reported.add(key)
        end = max(end, node.end_byte)
        yield match


def can_match(unit: CudaUnit | PythonUnit, context: DetectorContext) -> bool:
    """The prefilter: whether the file has one of the texts of `contains`, or one of the terms."""
    texts = context.parameters.get("contains")
    encoded = [text.encode() for text in texts] if isinstance(texts, list | tuple) else context.encoded_terms
    return any(contains_text(unit.data, text) for text in encoded)
