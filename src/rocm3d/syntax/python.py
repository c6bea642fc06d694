"""A Python source file, and which parts are already guarded for ROCm. Tolerates syntax errors and Python 2."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import tree_sitter_python
from tree_sitter import Language, Node

from rocm3d.syntax.unit import ParsedUnit, walk

_CONDITION_NODES = frozenset(
    {"identifier", "attribute", "comparison_operator", "boolean_operator", "not_operator", "call",
     "parenthesized_expression", "conditional_expression"}
)  # fmt: skip
_BRANCH_NODES = frozenset(
    {"if_statement", "elif_clause", "conditional_expression", "boolean_operator", "assert_statement"}
)
_IDENTIFIER = re.compile(rb"\w+")
_FROM = re.compile(rb"from(?:\s|\\)+(\w+)")
_IMPORT = re.compile(rb"import\b([^\n\\;#]*(?:\\\r?\n?[^\n\\;#]*)*)")
# The start of an unindented statement that does not continue the one before it.
_STATEMENT = re.compile(rb"^(?!(?:else|elif|except|finally|case)\b)[@A-Za-z_]", re.MULTILINE)


@dataclass(frozen=True)
class PythonUnit(ParsedUnit):
    language: ClassVar[Language] = Language(tree_sitter_python.language())

    @cached_property
    def builds_extensions(self) -> bool:
        """Whether the file uses torch's extension builder."""
        return b"cpp_extension" in self.data

    @cached_property
    def imported_names(self) -> frozenset[bytes]:
        """A superset of the top-level names that the file imports, found without a parse."""
        return frozenset(_FROM.findall(self.data)).union(
            *(_IDENTIFIER.findall(names) for names in _IMPORT.findall(self.data))
        )

    def truncated_after_imports(self, modules: frozenset[bytes]) -> PythonUnit:
        """The file up to its last import of one of these modules, so that most of it need not be parsed.

        The cut is before an unindented statement. The whole file is returned if the first part does not parse, as in a
        long string, or if the tree already exists.
        """
        matches = (*_FROM.finditer(self.data), *_IMPORT.finditer(self.data))
        last = max(
            (match.end() for match in matches if not modules.isdisjoint(_IDENTIFIER.findall(match.group(1)))), default=0
        )
        cut = None if "tree" in self.__dict__ else _STATEMENT.search(self.data, last)
        if cut is None:
            return self
        head = PythonUnit(self.path, self.data[: cut.start()])
        return self if head.tree.root_node.has_error or head.has_exceeded_limits else head

    def is_guarded(self, node: Node) -> bool:
        """Whether an enclosing condition distinguishes ROCm from CUDA."""
        return any(
            branch.start_byte <= node.start_byte and node.end_byte <= branch.end_byte and branch.id != node.id
            for branch in self._rocm_branches
        )

    @cached_property
    def _rocm_branches(self) -> list[Node]:
        # Byte ranges, because Node.parent of tree-sitter takes time proportional to the depth.
        return [node for node in self.nodes(*_BRANCH_NODES) if self._tests_rocm(node)]

    def _tests_rocm(self, branch: Node) -> bool:
        condition: Node | None = branch
        if branch.type == "conditional_expression":
            condition = branch.named_children[1] if len(branch.named_children) == 3 else None
        elif branch.type not in ("boolean_operator", "assert_statement"):
            condition = branch.child_by_field_name("condition")
        return condition is not None and self._mentions(condition, self._rocm_names)

    @cached_property
    def _rocm_names(self) -> frozenset[str]:
        """Variables that mean "is ROCm": assigned from a ROCm condition, or a constant inside a branch on one."""
        names = {"ROCM_HOME", "IS_HIP_EXTENSION"}
        sides = [(n.child_by_field_name("left"), n.child_by_field_name("right")) for n in self.nodes("assignment")]
        bound = [(left, right) for left, right in sides if left and right and left.type == "identifier"]
        branches = list(self.nodes("if_statement", "elif_clause"))
        while True:
            rocm_branches = [
                c for c in branches if (q := c.child_by_field_name("condition")) and self._mentions(q, names)
            ]
            new_names = {
                self.slice(left)
                for left, right in bound
                if (right.type in _CONDITION_NODES and self._mentions(right, names))
                or (
                    right.type in ("true", "false")
                    and any(c.start_byte <= left.start_byte < c.end_byte for c in rocm_branches)
                )
            }
            if new_names <= names:
                return frozenset(names)
            names |= new_names

    def _mentions(self, node: Node, names: set[str] | frozenset[str]) -> bool:
        return any(
            (inner.type == "attribute" and self.slice(inner).endswith("version.hip"))
            or (inner.type == "identifier" and self.slice(inner) in names)
            for inner in walk(node)
        )


def string_value(unit: PythonUnit, node: Node) -> str | None:
    """The content of a plain string literal; None for formatted ones."""
    if node.type != "string" or any(child.type == "interpolation" for child in node.named_children):
        return None
    return "".join(unit.slice(child) for child in node.named_children if child.type == "string_content")
