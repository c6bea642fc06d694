"""Runs the query of a rule over one file: what the matchers cuda_syntax and python_syntax share.

A pattern with the capture `@match` gives findings at that node. Its other captures, and the values of `#set!`, are
facts for the message; such a value may contain facts: `"{name}={value}"`. `(#set! severity "note")` sets the severity.
Captures named `@known.NAME` are collected, and patterns further below can ask for them. Every predicate can be
negated: `#not-term?`.

    #eq? @a "text" or @b     #any-of? @a "text" ...      #match? @a "regex"      as in tree-sitter
    #term? @a                the name is a term of the rule: the fact `term`. Its reason is the fact `why`
    #term? @a "regex"        the group of the regex, found in the text or in the value of the string, is a term
    #term-prefix? @a         it starts with a term
    #known? @a "NAME"        its text was collected as @known.NAME, and maybe a term with it. Without @a: anything was
    #collected? @a "NAME"    this node itself was collected as @known.NAME, and maybe a term with it
    #within? @a "NAME"       it is, or is inside of, a node that was collected as @known.NAME
    #contains? @a "NAME"     it is, or contains, a node that was collected as @known.NAME
    #inside? @a "type" ...   a node of one of these types contains it
    #child-of? @a "type" ... a node of one of these types is directly above it
    #item? @a "1"            it is the first of the nodes below the one above it; comments and keywords do not count
    #statement? @a "regex"   the text of the statement that contains it
    #file-has? "regex"       the file contains it
    #path? "regex"           the path of the file

Parameters: `query`; `contains`, texts of which a file must contain one (default: the terms); `file_has` and
`file_lacks`, regexes that a file must all contain, or must not; `once`, which keeps the first finding for each `file`,
`term`, `line`, `statement`, or text of a fact of that name; `outermost`, no findings within another; `alone`, the
severity of a finding that is the only one of its file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tree_sitter import Node

from rocm3d.model.errors import UserError
from rocm3d.scan.detector import DetectorContext, Match
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.query import Captures, Predicate, parse_query

PARAMETERS: Mapping[str, Any] = {
    "query": str, "contains": list, "file_has": list, "file_lacks": list, "once": str, "outermost": (True, False),
    "alone": ("note", "warning", "error"),
}  # fmt: skip

_SEVERITY, _MATCH, _KNOWN = "severity", "match", "known."
_UNCOUNTED = ("comment", "keyword_argument")


class Collected:
    """The nodes that patterns collected under one name, each with its text and the term that it had."""

    def __init__(self, nodes: list[tuple[Node, str, str]]) -> None:
        self._nodes = nodes
        self.term_by_id = {node.id: term for node, _, term in nodes}
        self.term_by_text = {text: term for _, text, term in reversed(nodes)}

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
        return " ".join(self.unit.head(node).split())

    def is_relevant(self, node: Node) -> bool:
        """Whether a finding at this node concerns a port."""
        raise NotImplementedError

    def run(self) -> Iterator[Match]:
        if not suits(self.unit, self.context):
            return
        matches: list[tuple[Node, Match, str]] = []
        for pattern in parse_query(str(self.context.parameters["query"]), self.unit.language):
            collected: dict[str, list[tuple[Node, str, str]]] = {}
            tests = [self._test(predicate) for predicate in pattern.predicates]
            for captures in pattern.matches(self.unit):
                self.term, node = "", captures.get(_MATCH)
                if not all(holds(captures) for holds in tests):
                    continue
                if node is not None and not self.is_relevant(node):
                    continue
                for name, captured in captures.items():
                    if name.startswith(_KNOWN):
                        nodes = collected.setdefault(name.removeprefix(_KNOWN), [])
                        nodes.append((captured, self.name(captured), self.term))
                if node is not None:
                    matches.append((node, self._match(node, captures, pattern.settings), self.term))
            for name, nodes in collected.items():
                self.known[name] = self.known.get(name, _NOTHING).with_more(nodes)
        yield from self._filtered(sorted(matches, key=lambda item: item[0].start_byte))

    def _match(self, node: Node, captures: Captures, settings: Mapping[str, str]) -> Match:
        named = ((name, captured) for name, captured in captures.items() if name != _MATCH and "." not in name)
        facts = {name: self.fact(captured) for name, captured in named}
        if self.term:
            facts |= {"term": self.term, "why": self.context.code.terms[self.term]}
        constants = {name: _filled(value, facts) for name, value in settings.items() if name != _SEVERITY}
        severity: Any = settings.get(_SEVERITY)
        line, column = self.unit.text.position(node.start_byte)
        return Match(line, column, {**facts, **constants}, severity=severity)

    def _filtered(self, matches: list[tuple[Node, Match, str]]) -> Iterator[Match]:
        parameters = self.context.parameters
        once, end = str(parameters.get("once", "")), -1
        kept: dict[str | int | None, Match] = {}
        for node, match, term in matches:
            keys: dict[str, str | int] = {"": node.id, "file": "", "line": match.line, "term": term}
            key = self.statement(node).start_byte if once == "statement" else keys.get(once, match.facts.get(once))
            if key not in kept and not (node.start_byte < end and parameters.get("outermost")):
                kept[key] = match
                end = max(end, node.end_byte)
        alone: Any = parameters.get("alone")
        yield from kept.values() if len(kept) > 1 or not alone else (replace(m, severity=alone) for m in kept.values())

    def _test(self, predicate: Predicate) -> Callable[[Captures], bool]:
        """A predicate as a function. If one of its captures is missing, it does not hold, and its negation does."""
        positive = predicate.name.removeprefix("not-")
        test: Callable[..., bool] | None = getattr(self, f"is_{positive.replace('-', '_')}", None)
        if test is None:
            raise UserError(f"query: unknown predicate #{predicate.name}?")
        names = [item[1:] for item in predicate.arguments if item.startswith("@")]
        texts = predicate.arguments[len(names) :]
        is_positive = positive == predicate.name

        def holds(captures: Captures) -> bool:
            nodes = [captures[name] for name in names if name in captures]
            return (len(nodes) == len(names) and test(*nodes, *texts)) == is_positive

        return holds

    def is_eq(self, node: Node, other: Node | str) -> bool:
        return self.unit.slice(node) == (other if isinstance(other, str) else self.unit.slice(other))

    def is_any_of(self, node: Node, *texts: str) -> bool:
        return self.unit.slice(node) in texts

    def is_match(self, node: Node, pattern: str) -> bool:
        return re.search(pattern, self.unit.slice(node)) is not None

    def is_term(self, node: Node, pattern: str = "") -> bool:
        return self.has_term(self.value(node), pattern) if pattern else self.has_term(self.name(node))

    def has_term(self, text: str, pattern: str = "") -> bool:
        """Whether the text, or the group of the regex in it, is a term."""
        found = re.search(pattern, text) if pattern else None
        name = found.group(found.lastindex or 0) if found else "" if pattern else text
        self.term = name if name in self.context.code.terms else ""
        return bool(self.term)

    def is_term_prefix(self, node: Node) -> bool:
        return self.has_term_prefix(self.name(node))

    def has_term_prefix(self, name: str) -> bool:
        self.term = max((term for term in self.context.code.terms if name.startswith(term)), key=len, default="")
        return bool(self.term)

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


def _filled(text: str, facts: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: facts.get(match.group(1), match.group()), text)


def can_match(unit: CudaUnit | PythonUnit, context: DetectorContext) -> bool:
    """The prefilter: whether the file has one of the texts of `contains`, or one of the terms, and suits `file_has`."""
    texts = context.parameters.get("contains")
    has_text = any(text.encode() in unit.data for text in texts) if isinstance(texts, list) else None
    return (contains_term(unit, context) if has_text is None else has_text) and suits(unit, context)


def suits(unit: CudaUnit | PythonUnit, context: DetectorContext) -> bool:
    """Whether the file has what `file_has` requires, and nothing of `file_lacks`."""
    patterns: Any = context.parameters
    return all(re.search(pattern.encode(), unit.data) for pattern in patterns.get("file_has", ())) and not any(
        re.search(pattern.encode(), unit.data) for pattern in patterns.get("file_lacks", ())
    )
