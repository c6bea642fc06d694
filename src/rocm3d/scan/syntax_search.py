"""Runs the query of a rule over one file: what the matchers cuda_syntax and python_syntax share.

A pattern with the capture `@match` gives findings at that node. Its other captures, and the values of `#set!`, are
facts for the message; `(#set! severity "note")` sets the severity. Captures named `@known.NAME` collect texts:
patterns further below can ask for them with `#known?`. Every predicate can be negated: `#not-term?`.

    #eq? @a "text" or @b     #any-of? @a "text" ...      #match? @a "regex"      as in tree-sitter
    #term? @a                the name is a term of the rule, whose reason becomes the fact `why`
    #term-prefix? @a         it starts with a term
    #known? @a "NAME"        its text was collected as @known.NAME; without @a: anything was collected
    #within? @a "NAME"       it is, or is inside of, a node that was collected as @known.NAME
    #inside? @a "type" ...   a node of one of these types contains it
    #file-has? "regex"       the file contains it

Parameters: `query`; `contains`, texts of which a file must contain one (default: the terms); `once`, which keeps the
first finding for each `file`, `term`, `line`, or text of a fact of that name; `outermost`, no findings within another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tree_sitter import Node

from rocm3d.model.errors import UserError
from rocm3d.scan.detector import DetectorContext, Match
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.query import Captures, Predicate, parse_query

PARAMETERS: Mapping[str, Any] = {"query": str, "contains": list, "once": str, "outermost": (True, False)}

_SEVERITY, _MATCH, _KNOWN = "severity", "match", "known."


@dataclass
class SyntaxSearch:
    """The state of a query while it runs over one file. A subclass says how names and facts are read."""

    unit: CudaUnit | PythonUnit
    context: DetectorContext
    known: dict[str, list[Node]] = field(default_factory=dict)
    term: str = ""

    def name(self, node: Node) -> str:
        """The text that is compared with terms."""
        raise NotImplementedError

    def fact(self, node: Node) -> str:
        """The text of a node in a message."""
        return " ".join(self.unit.head(node).split())

    def is_relevant(self, node: Node) -> bool:
        """Whether a finding at this node concerns a port."""
        raise NotImplementedError

    def run(self) -> Iterator[Match]:
        parameters = self.context.parameters
        matches: list[tuple[Node, Match, str]] = []
        for pattern in parse_query(str(parameters["query"]), self.unit.language):
            for captures in pattern.matches(self.unit):
                self.term, node = "", captures.get(_MATCH)
                if node is not None and not self.is_relevant(node):
                    continue
                if all(self._holds(predicate, captures) for predicate in pattern.predicates):
                    for name, captured in captures.items():
                        if name.startswith(_KNOWN):
                            self.known.setdefault(name.removeprefix(_KNOWN), []).append(captured)
                    if node is not None:
                        matches.append((node, self._match(node, captures, pattern.settings), self.term))
        yield from _filtered(sorted(matches, key=lambda item: item[0].start_byte), parameters)

    def _match(self, node: Node, captures: Captures, settings: Mapping[str, str]) -> Match:
        texts = {name: self.fact(captured) for name, captured in captures.items() if "." not in name}
        constants = {name: value for name, value in settings.items() if name != _SEVERITY}
        why = {"why": self.context.code.terms[self.term]} if self.term else {}
        severity: Any = settings.get(_SEVERITY)
        line, column = self.unit.text.position(node.start_byte)
        return Match(line, column, {**texts, **why, **constants}, severity=severity)

    def _holds(self, predicate: Predicate, captures: Captures) -> bool:
        positive = predicate.name.removeprefix("not-")
        test: Callable[..., bool] | None = getattr(self, f"is_{positive.replace('-', '_')}", None)
        if test is None:
            raise UserError(f"query: unknown predicate #{predicate.name}?")
        arguments = [captures.get(item[1:]) if item.startswith("@") else item for item in predicate.arguments]
        return (None not in arguments and test(*arguments)) != (positive != predicate.name)

    def is_eq(self, node: Node, other: Node | str) -> bool:
        return self.unit.slice(node) == (other if isinstance(other, str) else self.unit.slice(other))

    def is_any_of(self, node: Node, *texts: str) -> bool:
        return self.unit.slice(node) in texts

    def is_match(self, node: Node, pattern: str) -> bool:
        return re.search(pattern, self.unit.slice(node)) is not None

    def is_term(self, node: Node) -> bool:
        self.term = name if (name := self.name(node)) in self.context.code.terms else ""
        return bool(self.term)

    def is_term_prefix(self, node: Node) -> bool:
        name = self.name(node)
        self.term = max((term for term in self.context.code.terms if name.startswith(term)), key=len, default="")
        return bool(self.term)

    def is_known(self, *arguments: Node | str) -> bool:
        *nodes, name = arguments
        texts = {self.name(node) for node in self.known.get(str(name), ())}
        return all(self.name(node) in texts for node in nodes if isinstance(node, Node)) and bool(texts)

    def is_within(self, node: Node, name: str) -> bool:
        return any(n.start_byte <= node.start_byte and node.end_byte <= n.end_byte for n in self.known.get(name, ()))

    def is_inside(self, node: Node, *kinds: str) -> bool:
        return any(above.type in kinds for above in self.ancestors(node))

    def is_file_has(self, pattern: str) -> bool:
        return re.search(pattern.encode(), self.unit.data) is not None

    def ancestors(self, node: Node) -> Iterator[Node]:
        above = self.unit.parents.get(node.id)
        while above is not None:
            yield above
            above = self.unit.parents.get(above.id)


def _filtered(matches: list[tuple[Node, Match, str]], parameters: Mapping[str, Any]) -> Iterator[Match]:
    once, end = parameters.get("once", ""), -1
    reported: set[str | int | None] = set()
    for node, match, term in matches:
        keys: dict[str, str | int] = {"": node.id, "file": "", "line": match.line, "term": term}
        key = keys.get(once, match.facts.get(once))
        if key in reported or (node.start_byte < end and parameters.get("outermost")):
            continue
        reported.add(key)
        end = max(end, node.end_byte)
        yield match


def can_match(unit: CudaUnit | PythonUnit, context: DetectorContext) -> bool:
    """The prefilter: whether the file has one of the texts of `contains`, or one of the terms."""
    texts = context.parameters.get("contains")
    if not isinstance(texts, list | tuple):
        return contains_term(unit, context)
    return any(text.encode() in unit.data for text in texts)
