"""A query over Python files (rocm3d.scan.syntax_search); findings only outside of conditions on ROCm.

Further predicates: `#imported-term? @a` and `#imported? @a "regex"` compare the full name, resolved by the imports of
the file; `#inside-expression? @a "type" ...` looks only within the statement and the call that contain the node.
Strings are compared by their value; formatted strings equal nothing. Parameter `guarded`: true searches code that is
guarded for ROCm as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from tree_sitter import Node

from rocm3d.scan.detector import DetectorContext, Match, Matcher
from rocm3d.scan.prefilter import contains_dotted_name
from rocm3d.scan.syntax_search import PARAMETERS, SyntaxSearch, can_match
from rocm3d.syntax.python import PythonUnit, string_value
from rocm3d.syntax.python_names import ImportedNames


class _PythonSearch(SyntaxSearch):
    unit: PythonUnit

    def name(self, node: Node) -> str:
        return string_value(self.unit, node) or "" if node.type == "string" else "".join(self.unit.head(node).split())

    def fact(self, node: Node) -> str:
        return string_value(self.unit, node) or self._imports.full_name(node) or super().fact(node)

    def is_relevant(self, node: Node) -> bool:
        return bool(self.context.parameters.get("guarded")) or not self.unit.is_guarded(node)

    def is_imported_term(self, node: Node) -> bool:
        self.term = name if (name := self._imports.full_name(node)) in self.context.code.terms else ""
        return bool(self.term)

    def is_imported(self, node: Node, pattern: str) -> bool:
        return re.search(pattern, self._imports.full_name(node)) is not None

    def is_inside_expression(self, node: Node, *kinds: str) -> bool:
        for above in self.ancestors(node):
            if above.type in kinds:
                return True
            if above.type.endswith("_statement") or above.type in ("block", "argument_list"):
                return False
        return False

    @cached_property
    def _imports(self) -> ImportedNames:
        return ImportedNames(self.unit)


def _can_match(unit: PythonUnit, context: DetectorContext) -> bool:
    """Names that an import may rename need not occur verbatim."""
    renamed = "#imported-term?" in str(context.parameters["query"]) and "contains" not in context.parameters
    return contains_dotted_name(unit, context) if renamed else can_match(unit, context)


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    return _PythonSearch(unit, context).run()


matcher = Matcher(
    unit_types=PythonUnit, find=find, prefilter=_can_match, parameters={**PARAMETERS, "guarded": (True, False)}
)
