"""Runs the query of a rule over one file: what the matchers cuda_syntax and python_syntax share.

A pattern with the capture `@match` gives findings at that node. Its other captures are facts for the message, those
named `@text.NAME` as they are written. Captures named `@known.NAME` are collected, and patterns further below can ask
for them. Every predicate can be negated: `#not-term?`.

    #eq? @a "text" or @b     #any-of? @a "text" ...      #match? @a "regex"      as in tree-sitter
    #term? @a                the name is a term of the rule: the fact `term`. Its reason is the fact `why`
    #term? @a "regex"        the group of the regex, found in the text or in the value of the string, is a term
    #term-prefix? @a         it starts with a term
    #term-inside? @a         a term occurs in its text, not within a longer word; the first such term of the rule
    #count? @a "number"      it has so many children
    #known? @a "NAME"        its text was collected as @known.NAME, and maybe a term with it. Without @a: anything was
    #collected? @a "NAME"    this node itself was collected as @known.NAME, and maybe a term with it
    #within? @a "NAME"       it is, or is inside of, a node that was collected as @known.NAME
    #contains? @a "NAME"     it is, or contains, a node that was collected as @known.NAME
    #above? @a "NAME" "type" ...   it is above such a node, with only nodes of these types between them
    #inside? @a "type" ...   a node of one of these types contains it
    #child-of? @a "type" ... a node of one of these types is directly above it
    #item? @a "1"            it is the first of the nodes below the one above it; comments and keywords do not count
    #statement? @a "regex"   the text of the statement that contains it
    #file-has? "regex"       the file contains it
    #path? "regex"           the path of the file

A predicate without a capture is decided first: where it is false, no node is searched and the file need not be parsed.

`(#set! NAME "value")` adds a fact; {placeholders} in the value stand for other facts. Three names are special:
`severity`; `term`, whose reason is the fact `why`; `once`, for the findings of this pattern only.

Parameters: `query`; `contains`, texts of which a file must contain one, with any spaces around `::` (default: the
terms); `file_has` and `file_lacks`, regexes that a file must all contain, or must not; `once`, which keeps the first
finding for each `file`, `term`, `line`, `statement`, or text of a fact of that name; `outermost`, no findings within
another; `alone`, the severity of a finding that is the only one of its file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, KeysView, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tree_sitter import Node

from rocm3d.model.errors import UserError
from rocm3d.scan.detector import DetectorContext, Match
from rocm3d.scan.prefilter import contains_text
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.query import Captures, Predicate, QueryPattern, parse_query

PARAMETERS: Mapping[str, Any] = {
    "query": str, "contains": list, "file_has": list, "file_lacks": list, "once": str, "outermost": (True, False),
    "alone": ("note", "warning", "error"),
}  # fmt: skip

_SEVERITY, _TERM, _ONCE = "severity", "term", "once"
_MATCH, _KNOWN, _TEXT = "match", "known.", "text."
_UNCOUNTED = ("comment", "keyword_argument")

_Test = Callable[[Captures], bool]


class Collected:
    """The nodes that patterns collected under one name, each with its text and the term that it had."""

    def __init__(self, nodes: list[tuple[Node, str, str]]) -> None:
        self._nodes = nodes
        self.nodes = [node for node, _, _ in nodes]
        self.term_by_id = {node.id: term for node, _, term in nodes}
        self.term_by_text = {text: term for _, text, term in reversed(nodes)}

    @property
    def names(self) -> KeysView[str]:
        return self.term_by_text.keys()

    def with_more(self, nodes: list[tuple[Node, str, str]]) -> Collected:
        return Collected([*self._nodes, *nodes])

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return sorted((node.start_byte, node.end_byte) for node, _, _ in self._nodes)

    @cached_property
    def _outermost(self) -> list[tuple[int, int]]:
        outermost: list[tuple[int, int]] = []
        for start, end in sorted(self._spans, key=lambda span: (span[0], -span[1])):
            if not outermost or start >= outermost[-1][1]:
                outermost.append((start, end))
        return outermost

    def encloses(self, node: Node) -> bool:
        """Whether one of the nodes is the node or contains it."""
        index = bisect_right(self._outermost, node.start_byte, key=lambda span: span[0]) - 1
        return index >= 0 and node.end_byte <= self._outermost[index][1]

    def occurs_in(self, node: Node) -> bool:
        """Whether the node is one of the nodes or contains one. Nodes are nested or apart, so two tests are enough."""
        first = bisect_left(self._spans, (node.start_byte, 0))
        after = bisect_left(self._spans, (node.start_byte + 1, 0))
        return any(
            start < node.end_byte and end <= node.end_byte
            for start, end in (*self._spans[first : first + 1], *self._spans[after : after + 1])
        )


_NOTHING = Collected([])


@dataclass
class SyntaxSearch:
    """The state of a query while it runs over one file. A subclass says how names and facts are read."""

    unit: CudaUnit | PythonUnit
    context: DetectorContext
    known: dict[str, Collected] = field(default_factory=dict)
    term: str = ""
    facts: dict[str, str] = field(default_factory=dict)  # those that predicates give for one match
    _above: dict[tuple[str, ...], set[int]] = field(default_factory=dict)
    _positions: dict[int, dict[int, int]] = field(default_factory=dict)  # of the children of each node
    _found_in_file: dict[str, bool] = field(default_factory=dict)

    def name(self, node: Node) -> str:
        """The text that is compared with terms."""
        raise NotImplementedError

    def value(self, node: Node) -> str:
        """The text in which the regex of a term is searched."""
        return self.unit.slice(node)

    def fact(self, node: Node) -> str:
        """The text of a node in a message."""
        return self._written(node)

    def is_relevant(self, node: Node) -> bool:
        """Whether a finding at this node concerns a port."""
        raise NotImplementedError

    def run(self) -> Iterator[Match]:
        is_possible = can_match if "contains" in self.context.parameters else suits
        if not is_possible(self.unit, self.context):
            return
        results: list[_QueryResult] = []
        for pattern in self._patterns():
            tests = [(self._test(predicate), _reads_node(predicate)) for predicate in pattern.predicates]
            if all(test({}) for test, reads_node in tests if not reads_node):
                results += self._run_pattern(pattern, [test for test, reads_node in tests if reads_node])
        yield from self._filtered(sorted(results, key=lambda item: item.node.start_byte))

    def _patterns(self) -> tuple[QueryPattern, ...]:
        try:
            return parse_query(str(self.context.parameters["query"]), self.unit.language)
        except UserError as error:
            raise UserError(f"rule {self.context.code.rule}: {error.message}", hint=error.hint) from error

    def _run_pattern(self, pattern: QueryPattern, tests: list[_Test]) -> Iterator[_QueryResult]:
        collected: dict[str, list[tuple[Node, str, str]]] = {}
        once = pattern.settings.get(_ONCE, str(self.context.parameters.get(_ONCE, "")))
        for captures in pattern.matches(self.unit):
            self.term, self.facts, node = pattern.settings.get(_TERM, ""), {}, captures.get(_MATCH)
            if not all(test(captures) for test in tests) or (node is not None and not self.is_relevant(node)):
                continue
            for name, captured in captures.items():
                if name.startswith(_KNOWN):
                    nodes = collected.setdefault(name.removeprefix(_KNOWN), [])
                    nodes.append((captured, self.name(captured), self.term))
            if node is not None:
                yield _QueryResult(node, self._match(node, captures, pattern.settings), self.term, once)
        self._above.clear()
        for name, nodes in collected.items():
            self.known[name] = self.known.get(name, _NOTHING).with_more(nodes)

    def _match(self, node: Node, captures: Captures, settings: Mapping[str, str]) -> Match:
        names = [name for name in captures if name != _MATCH]
        facts = {name: self.fact(captures[name]) for name in names if "." not in name}
        facts |= {name.removeprefix(_TEXT): self._written(captures[name]) for name in names if name.startswith(_TEXT)}
        facts |= self.facts
        if self.term:
            facts |= {"term": self.term, "why": self.context.code.terms[self.term]}
        constants = {name: value for name, value in settings.items() if name not in (_SEVERITY, _TERM, _ONCE)}
        facts |= {name: _filled(value, facts) for name, value in constants.items()}
        severity: Any = settings.get(_SEVERITY)
        line, column = self.unit.text.position(node.start_byte)
        return Match(line, column, facts, severity=severity)

    def _written(self, node: Node) -> str:
        return " ".join(self.unit.head(node).split())

    def _filtered(self, results: list[_QueryResult]) -> Iterator[Match]:
        reported: dict[tuple[str, str | int | None], Match] = {}
        end, parameters = -1, self.context.parameters
        for result in results:
            node, match, once = result.node, result.match, result.once
            keys: dict[str, str | int] = {"": node.id, "file": "", "line": match.line, "term": result.term}
            key = self.statement(node).start_byte if once == "statement" else keys.get(once, match.facts.get(once))
            if (once, key) not in reported and not (node.start_byte < end and parameters.get("outermost")):
                reported[once, key] = match
                end = max(end, node.end_byte)
        alone: Any = parameters.get("alone")
        yield from (
            reported.values()
            if len(reported) > 1 or not alone
            else (replace(m, severity=alone) for m in reported.values())
        )

    def _test(self, predicate: Predicate) -> _Test:
        """A predicate as a function. If one of its captures is missing, it does not hold, and its negation does."""
        positive = predicate.name.removeprefix("not-")
        test: Callable[..., bool] | None = getattr(self, f"is_{positive.replace('-', '_')}", None)
        if test is None:
            raise UserError(f"rule {self.context.code.rule}: unknown predicate #{predicate.name}?")
        is_negated, arguments = positive != predicate.name, predicate.arguments

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

    def is_term(self, node: Node, pattern: str = "") -> bool:
        return self.has_term(self.value(node), pattern) if pattern else self.has_term(self.name(node))

    def has_term(self, text: str, pattern: str = "") -> bool:
        """Whether the text, or the group of the regex in it, is a term."""
        match = re.search(pattern, text) if pattern else None
        name = match.group(match.lastindex or 0) if match else "" if pattern else text
        self.term = name if name in self.context.code.terms else ""
        return bool(self.term)

    def is_term_prefix(self, node: Node) -> bool:
        return self.has_term_prefix(self.name(node))

    def has_term_prefix(self, name: str) -> bool:
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
        terms = self.known.get(str(name), _NOTHING).term_by_text
        if not terms:
            return False
        texts = [self.name(node) for node in nodes if isinstance(node, Node)]
        self.term = next((terms[text] for text in texts if terms.get(text)), self.term)
        return all(text in terms for text in texts)

    def is_collected(self, node: Node, name: str) -> bool:
        terms = self.known.get(name, _NOTHING).term_by_id
        self.term = terms.get(node.id) or self.term
        return node.id in terms

    def is_within(self, node: Node, name: str) -> bool:
        return self.known.get(name, _NOTHING).encloses(node)

    def is_contains(self, node: Node, name: str) -> bool:
        return self.known.get(name, _NOTHING).occurs_in(node)

    def is_above(self, node: Node, name: str, *kinds: str) -> bool:
        """The nodes above the collected ones are found once: a path ends where another one has passed."""
        key = (name, *kinds)
        if key not in self._above:
            above = self._above[key] = set()
            for below in self.known.get(name, _NOTHING).nodes:
                for parent in self.ancestors(below):
                    if parent.type not in kinds or parent.id in above:
                        break
                    above.add(parent.id)
        return node.id in self._above[key]

    def is_inside(self, node: Node, *kinds: str) -> bool:
        return any(above.type in kinds for above in self.ancestors(node))

    def is_child_of(self, node: Node, *kinds: str) -> bool:
        above = self.unit.parents.get(node.id)
        return above is not None and above.type in kinds

    def is_item(self, node: Node, number: str) -> bool:
        above = self.unit.parents.get(node.id)
        if above is None:
            return False
        if above.id not in self._positions:
            counted = (child.id for child in above.named_children if child.type not in _UNCOUNTED)
            self._positions[above.id] = {child: index for index, child in enumerate(counted, start=1)}
        return str(self._positions[above.id].get(node.id)) == number

    def is_statement(self, node: Node, pattern: str) -> bool:
        return re.search(pattern, self.unit.head(self.statement(node))) is not None

    def is_file_has(self, pattern: str) -> bool:
        if pattern not in self._found_in_file:
            self._found_in_file[pattern] = re.search(pattern.encode(), self.unit.data) is not None
        return self._found_in_file[pattern]

    def is_path(self, pattern: str) -> bool:
        return re.search(pattern, self.unit.path) is not None

    def statement(self, node: Node) -> Node:
        """The statement that contains a node, or the node itself."""
        return next((above for above in self.ancestors(node) if above.type.endswith("_statement")), node)

    def ancestors(self, node: Node) -> Iterator[Node]:
        above = self.unit.parents.get(node.id)
        while above is not None:
            yield above
            above = self.unit.parents.get(above.id)


@dataclass(frozen=True)
class _QueryResult:
    node: Node
    match: Match
    term: str
    once: str


def _reads_node(predicate: Predicate) -> bool:
    return any(item.startswith("@") for item in predicate.arguments)


def _filled(text: str, facts: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: facts.get(match.group(1), match.group()), text)


def can_match(unit: CudaUnit | PythonUnit, context: DetectorContext) -> bool:
    """The prefilter: whether the file has one of the texts of `contains`, or one of the terms, and suits `file_has`."""
    texts = context.parameters.get("contains")
    encoded = [text.encode() for text in texts] if isinstance(texts, list) else context.encoded_terms
    return any(contains_text(unit.data, text) for text in encoded) and suits(unit, context)


def suits(unit: CudaUnit | PythonUnit, context: DetectorContext) -> bool:
    """Whether the file has what `file_has` requires, and nothing of `file_lacks`."""
    patterns = context.parameters
    return all(re.search(pattern.encode(), unit.data) for pattern in patterns.get("file_has", ())) and not any(
        re.search(pattern.encode(), unit.data) for pattern in patterns.get("file_lacks", ())
    )
