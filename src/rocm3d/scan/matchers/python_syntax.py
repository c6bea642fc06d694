"""A query over Python files (rocm3d.scan.syntax_search); findings only outside of conditions on ROCm.

Further predicates. The first three compare the full name, resolved by the imports of the file; after the first two the
message has the full name too. Strings are compared by their value; formatted strings equal nothing.

    #imported? @a "regex"    #imported-term? @a, or @a "regex"      #imported-term-prefix? @a
    #imports-term? @a        the statement imports a module that is a term, or is below one
    #unconditional? @a       it always runs when the module loads: outside functions, conditions and try blocks
    #truth-value? @a         it is a condition, an operand of `and`, `or` and `not`, or the argument of bool()
    #guarded? @a             a condition on ROCm contains it
    #package-module? @a      it is a module of a package in the knowledge base
    #admits-version? @a      it is a version specifier, and a version among the terms satisfies it
    #inside-expression? @a "type" ...   as #inside?, within the statement and the call that contain the node

Parameter `guarded`: true searches code that is guarded for ROCm as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from packaging.specifiers import SpecifierSet
from tree_sitter import Node

from rocm3d.scan.detector import DetectorContext, Match, Matcher
from rocm3d.scan.prefilter import contains_dotted_name
from rocm3d.scan.syntax_search import PARAMETERS, SyntaxSearch, can_match, suits
from rocm3d.syntax.python import ImportedNames, PythonUnit, imports, string_value, unconditional_imports


@dataclass
class _PythonSearch(SyntaxSearch):
    unit: PythonUnit
    _resolved: set[int] = field(default_factory=set)  # nodes that were compared by their full names

    def name(self, node: Node) -> str:
        return string_value(self.unit, node) or "" if node.type == "string" else "".join(self.unit.head(node).split())

    def value(self, node: Node) -> str:
        return string_value(self.unit, node) or "" if node.type == "string" else self.unit.slice(node)

    def fact(self, node: Node) -> str:
        full_name = self._imports.full_name(node) if node.id in self._resolved else ""
        return string_value(self.unit, node) or full_name or super().fact(node)

    def is_relevant(self, node: Node) -> bool:
        return bool(self.context.parameters.get("guarded")) or not self.unit.is_guarded(node)

    def is_imported(self, node: Node, pattern: str) -> bool:
        return re.search(pattern, self._full_name(node)) is not None

    def is_imported_term(self, node: Node, pattern: str = "") -> bool:
        return self.has_term(self._full_name(node), pattern)

    def is_imported_term_prefix(self, node: Node) -> bool:
        return self.has_term_prefix(self._imports.full_name(node))

    def is_imports_term(self, node: Node) -> bool:
        names = self._names_by_import.get(node.id, ())
        terms = (term for name in names for term in self.context.code.terms if f"{name}.".startswith(f"{term}."))
        self.term = max(terms, key=len, default="")
        return bool(self.term)

    def is_unconditional(self, node: Node) -> bool:
        return node.id in self._unconditional_ids

    def is_truth_value(self, node: Node) -> bool:
        above = self.unit.parents.get(node.id)
        while above is not None and above.type == "parenthesized_expression":
            node, above = above, self.unit.parents.get(above.id)
        if above is None or above.type in ("boolean_operator", "not_operator"):
            return above is not None
        if above.type == "argument_list":
            call = self.unit.parents.get(above.id)
            function = None if call is None else call.child_by_field_name("function")
            return function is not None and self.unit.slice(function) == "bool"
        if above.type == "conditional_expression":
            return self.is_item(node, "2")
        return above.child_by_field_name("condition") == node or (
            above.type == "assert_statement" and self.is_item(node, "1")
        )

    def is_guarded(self, node: Node) -> bool:
        return self.unit.is_guarded(node)

    def is_package_module(self, node: Node) -> bool:
        return any(self.name(node) in package.imports for package in self.context.knowledge.packages.values())

    def is_admits_version(self, node: Node) -> bool:
        try:
            specifiers = SpecifierSet(self.name(node))
            return bool(specifiers) and any(specifiers.contains(version) for version in self.context.code.terms)
        except ValueError:  # not a specifier, or a number with too many digits for int()
            return False

    def is_inside_expression(self, node: Node, *kinds: str) -> bool:
        for above in self.ancestors(node):
            if above.type in kinds:
                return True
            if above.type.endswith("_statement") or above.type in ("block", "argument_list"):
                return False
        return False

    def _full_name(self, node: Node) -> str:
        self._resolved.add(node.id)
        return self._imports.full_name(node)

    @cached_property
    def _imports(self) -> ImportedNames:
        return ImportedNames(self.unit)

    @cached_property
    def _names_by_import(self) -> dict[int, list[str]]:
        names: dict[int, list[str]] = {}
        for imported in imports(self.unit):
            names.setdefault(imported.node.id, []).append(imported.name)
        return names

    @cached_property
    def _unconditional_ids(self) -> frozenset[int]:
        return frozenset(imported.node.id for imported in unconditional_imports(self.unit))


def _can_match(unit: PythonUnit, context: DetectorContext) -> bool:
    """Names that an import may rename need not occur verbatim."""
    renamed = "#imported-term?" in str(context.parameters["query"]) and "contains" not in context.parameters
    return contains_dotted_name(unit, context) and suits(unit, context) if renamed else can_match(unit, context)


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    return _PythonSearch(unit, context).run()


matcher = Matcher(
    unit_types=PythonUnit,
    find=find,
    prefilter=_can_match,
    parameters={**PARAMETERS, "guarded": (True, False)},
    required=("query",),
)
