"""A Python source file, and which parts are already guarded for ROCm. Tolerates syntax errors and Python 2.

Names in a file: imports, fully qualified names, call arguments, environment variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
_CONDITIONAL_NODES = ("function_definition", "if_statement", "try_statement", "match_statement")
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


@dataclass(frozen=True)
class Import:
    """One imported name. `module` is as written, `name` is the full name, `bound` the name in this file."""

    module: str
    name: str
    bound: str
    node: Node


def imports(unit: PythonUnit) -> Iterator[Import]:
    """Every absolute import of the file, also nested ones."""
    for node in unit.nodes("import_statement", "import_from_statement"):
        source = node.child_by_field_name("module_name")
        if source is not None and source.type != "dotted_name":
            continue  # a relative import is internal to the repository
        module = "" if source is None else unit.slice(source)
        imported_nodes = node.children_by_field_name("name")
        for imported_node in imported_nodes:
            alias = imported_node.child_by_field_name("alias")
            inner = (
                imported_node.child_by_field_name("name") if imported_node.type == "aliased_import" else imported_node
            )
            name = "" if inner is None else unit.slice(inner)
            bound = unit.slice(alias) if alias else name if module else name.split(".")[0]
            yield Import(module or name, f"{module}.{name}" if module else name, bound, node)
        if module and not imported_nodes:
            yield Import(module, f"{module}.*", "", node)


def unconditional_imports(unit: PythonUnit) -> Iterator[Import]:
    """Imports that always run when the module loads: outside functions, conditions and try blocks."""
    conditional_ranges = [(node.start_byte, node.end_byte) for node in unit.nodes(*_CONDITIONAL_NODES)]
    conditional_ranges += [
        (n.start_byte, n.end_byte) for n in unit.nodes("with_statement") if "suppress(" in unit.slice(n)
    ]
    for imported in imports(unit):
        if not any(start <= imported.node.start_byte < end for start, end in conditional_ranges):
            yield imported


class ImportedNames:
    """Resolves dotted names by the imports of a file: `cpp.load` is `torch.utils.cpp_extension.load`."""

    def __init__(self, unit: PythonUnit) -> None:
        self._unit = unit
        self._full_name_by_binding = {
            imported.bound: imported.name
            for imported in imports(unit)
            if imported.bound and imported.bound != imported.name.split(".")[0]
        }

    def full_name(self, node: Node | None) -> str:
        """The full name of an identifier or attribute chain; empty for any other node."""
        if node is None or node.type not in ("identifier", "attribute", "dotted_name"):
            return ""
        parts = re.sub(r"\s", "", self._unit.slice(node)).split(".")
        return ".".join([self._full_name_by_binding.get(parts[0], parts[0]), *parts[1:]])

    def calls(self) -> Iterator[tuple[str, Node]]:
        """Every call with the full name of its function."""
        for call in self._unit.nodes("call"):
            yield self.full_name(call.child_by_field_name("function")), call


def positional_arguments(call: Node) -> list[Node]:
    return [node for node in _arguments(call) if node.type not in ("keyword_argument", "comment")]


def _arguments(call: Node) -> list[Node]:
    argument_list = call.child_by_field_name("arguments")
    return [] if argument_list is None else argument_list.named_children


def keyword_argument(unit: PythonUnit, call: Node, name: str) -> Node | None:
    for argument in _arguments(call):
        keyword_name = argument.child_by_field_name("name") if argument.type == "keyword_argument" else None
        if keyword_name is not None and unit.slice(keyword_name) == name:
            return argument.child_by_field_name("value")
    return None


def ancestors(node: Node) -> Iterator[Node]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent
