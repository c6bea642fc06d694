"""Names in a Python file: imports, fully qualified names, call arguments, environment variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from rocm3d.syntax.python import PythonUnit, string_value
from rocm3d.syntax.unit import walk

_OPTIONAL = ("function_definition", "if_statement", "try_statement", "match_statement")
_TRITON = re.compile(rb"^[ \t]*(?:import|from)[ \t]+triton\b", re.MULTILINE)


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
        taken = node.children_by_field_name("name")
        for item in taken:
            alias = item.child_by_field_name("alias")
            inner = item.child_by_field_name("name") if item.type == "aliased_import" else item
            name = "" if inner is None else unit.slice(inner)
            bound = unit.slice(alias) if alias else name if module else name.split(".")[0]
            yield Import(module or name, f"{module}.{name}" if module else name, bound, node)
        if module and not taken:
            yield Import(module, f"{module}.*", "", node)


def firm_imports(unit: PythonUnit) -> Iterator[Import]:
    """Imports that always run when the module loads: outside functions, conditions and try blocks."""
    soft = [(node.start_byte, node.end_byte) for node in unit.nodes(*_OPTIONAL)]
    soft += [(n.start_byte, n.end_byte) for n in unit.nodes("with_statement") if "suppress(" in unit.slice(n)]
    for found in imports(unit):
        if not any(start <= found.node.start_byte < end for start, end in soft):
            yield found


class Names:
    """Resolves dotted names by the imports of a file: `cpp.load` is `torch.utils.cpp_extension.load`."""

    def __init__(self, unit: PythonUnit) -> None:
        self._unit = unit
        self._known = {
            found.bound: found.name
            for found in imports(unit)
            if found.bound and found.bound != found.name.split(".")[0]
        }

    def full(self, node: Node | None) -> str:
        """The full name of an identifier or attribute chain; empty for any other node."""
        if node is None or node.type not in ("identifier", "attribute", "dotted_name"):
            return ""
        parts = re.sub(r"\s", "", self._unit.slice(node)).split(".")
        return ".".join([self._known.get(parts[0], parts[0]), *parts[1:]])

    def calls(self) -> Iterator[tuple[str, Node]]:
        """Every call with the full name of its function."""
        for call in self._unit.nodes("call"):
            yield self.full(call.child_by_field_name("function")), call


def arguments(call: Node) -> list[Node]:
    given = call.child_by_field_name("arguments")
    items = [] if given is None else given.named_children
    return [item for item in items if item.type not in ("keyword_argument", "comment")]


def keyword(unit: PythonUnit, call: Node, name: str) -> Node | None:
    given = call.child_by_field_name("arguments")
    for item in [] if given is None else given.named_children:
        named = item.child_by_field_name("name") if item.type == "keyword_argument" else None
        if named is not None and unit.slice(named) == name:
            return item.child_by_field_name("value")
    return None


def strings(unit: PythonUnit, node: Node) -> list[tuple[Node, str]]:
    """The plain strings at or below a node."""
    pairs = [(inner, string_value(unit, inner)) for inner in walk(node) if inner.type == "string"]
    return [(inner, text) for inner, text in pairs if text is not None]


def ancestors(node: Node) -> Iterator[Node]:
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def environment_writes(unit: PythonUnit) -> Iterator[tuple[str, Node, Node]]:
    """Environment variables that the program sets: name, value node, statement node."""
    for node in unit.nodes("assignment"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None or left.type != "subscript":
            continue
        mapping, key = left.child_by_field_name("value"), left.child_by_field_name("subscript")
        name = string_value(unit, key) if key is not None else None
        if mapping is not None and name and re.search(r"env(iron)?$", unit.slice(mapping)):
            yield name, right, node
    for call in unit.nodes("call"):
        function, given = call.child_by_field_name("function"), arguments(call)
        called = "" if function is None else unit.slice(function)
        if called.endswith(("environ.setdefault", "putenv")) and len(given) == 2:
            name = string_value(unit, given[0])
            if name:
                yield name, given[1], call


def uses_triton(unit: PythonUnit) -> bool:
    """Whether the file imports Triton and so may contain kernels."""
    return _TRITON.search(unit.data) is not None
