"""Native extensions that a Python file builds with torch, as far as literals tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rocm3d.model.inventory import Extension
from rocm3d.model.location import Location
from rocm3d.syntax.python import string_value
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from rocm3d.syntax.python import PythonUnit

_HOW: dict[str, Literal["build_extension", "jit"]] = {
    "CUDAExtension": "build_extension",
    "CppExtension": "build_extension",
    "load": "jit",
}
_JOINS = frozenset({"join", "joinpath", "Path"})


def extensions(unit: PythonUnit) -> Iterator[Extension]:
    """Each call that declares an extension."""
    if not unit.builds_extensions:
        return
    for call in unit.nodes("call"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None:
            continue
        how = _HOW.get(unit.slice(function).rsplit(".", 1)[-1])
        keywords = _arguments(unit, arguments, how)
        if how is None or "sources" not in keywords:
            continue
        line, column = unit.text.place(call.start_byte)
        yield Extension(
            name=(_strings(unit, keywords["name"]) or ["?"])[0] if "name" in keywords else "?",
            how=how,
            sources=tuple(_strings(unit, keywords["sources"])),
            location=Location(path=unit.path, line=line, column=column),
        )


def _arguments(unit: PythonUnit, arguments: Node, how: str | None) -> dict[str, Node]:
    """By keyword; name and sources of an extension class by position too (`load` has namesakes that take two)."""
    items = [item for item in arguments.named_children if item.type != "comment"]
    plain = [item for item in items if item.type != "keyword_argument"] if how == "build_extension" else []
    found = dict(zip(("name", "sources"), plain, strict=False))
    for item in items:
        name, given = item.child_by_field_name("name"), item.child_by_field_name("value")
        if item.type == "keyword_argument" and name is not None and given is not None:
            found[unit.slice(name)] = given
    return found


def _strings(unit: PythonUnit, node: Node) -> list[str]:
    """Literals below a node; those of a join, such as os.path.join(here, "csrc", "a.cu"), are parts of one path."""
    found, stack = [], [node]
    while stack:
        inner = stack.pop()
        function = inner.child_by_field_name("function")
        if function is not None and unit.slice(function).rsplit(".", 1)[-1] in _JOINS:
            parts = (string_value(unit, part) for part in walk(inner) if part.type == "string")
            found.append("/".join(part for part in parts if part))
        elif inner.type == "string":
            found.append(string_value(unit, inner) or "")
        else:
            stack.extend(reversed(inner.named_children))
    return [text for text in found if text]
