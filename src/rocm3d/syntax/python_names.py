"""Names in a Python file: imports, fully qualified names, call arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from rocm3d.syntax.python import PythonUnit

_CONDITIONAL_NODES = ("function_definition", "if_statement", "try_statement", "match_statement")


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
    argument_list = call.child_by_field_name("arguments")
    items = [] if argument_list is None else argument_list.named_children
    return [node for node in items if node.type not in ("keyword_argument", "comment")]


def keyword_argument(unit: PythonUnit, call: Node, name: str) -> Node | None:
    argument_list = call.child_by_field_name("arguments")
    for argument in [] if argument_list is None else argument_list.named_children:
        keyword_name = argument.child_by_field_name("name") if argument.type == "keyword_argument" else None
        if keyword_name is not None and unit.slice(keyword_name) == name:
            return argument.child_by_field_name("value")
    return None


def ancestors(node: Node) -> Iterator[Node]:
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent
