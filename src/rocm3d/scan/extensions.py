"""torch extensions that a Python file builds, as far as its literals show."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Literal

from rocm3d.model.finding import Location
from rocm3d.model.inventory import Extension
from rocm3d.syntax.python import ImportedNames, string_value
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from rocm3d.syntax.python import PythonUnit

_KIND_BY_FUNCTION: dict[str, Literal["build_extension", "jit"]] = {
    "CUDAExtension": "build_extension",
    "CppExtension": "build_extension",
    "load": "jit",
}
_LOAD = "torch.utils.cpp_extension.load"
# Positional parameters after these differ between torch releases.
_POSITIONAL_PARAMETERS = {
    "build_extension": ("name", "sources"),
    "jit": ("name", "sources", "extra_cflags", "extra_cuda_cflags"),
}
_PATH_JOINS = frozenset({"join", "joinpath", "Path"})
# Keywords by which a wrapper around torch's `load` is recognised.
_JIT_KEYWORDS = frozenset({"sources", "extra_cuda_cflags"})
_NOT_POSITIONAL = frozenset({"keyword_argument", "list_splat", "dictionary_splat"})
_MAX_DEPTH = 4


def torch_extensions(unit: PythonUnit) -> Iterator[Extension]:
    if not unit.builds_extensions:
        return
    names = ImportedNames(unit)
    for call in unit.nodes("call"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None:
            continue
        is_load = names.full_name(function) == _LOAD
        how = "jit" if is_load else _KIND_BY_FUNCTION.get(unit.slice(function).rsplit(".", 1)[-1])
        # Other functions are named load too; their positional arguments mean something else.
        positions = _POSITIONAL_PARAMETERS[how] if how is not None and (is_load or how != "jit") else ()
        keywords = _arguments(unit, arguments, positions)
        if how is None and keywords.keys() >= _JIT_KEYWORDS:
            how = "jit"
        if how is None or "sources" not in keywords:
            continue
        line, column = unit.text.position(call.start_byte)
        yield _extension(unit, how, keywords, Location(path=unit.path, line=line, column=column))


def _extension(
    unit: PythonUnit, how: Literal["build_extension", "jit"], keywords: dict[str, Node], location: Location
) -> Extension:
    def strings(name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(_resolved_strings(unit, keywords[name]))) if name in keywords else ()

    include = "extra_include_paths" if how == "jit" else "include_dirs"
    if how == "jit":
        host, device = list(strings("extra_cflags")), list(strings("extra_cuda_cflags"))
    else:
        host, device = _flags_by_compiler(unit, keywords.get("extra_compile_args"))
    return Extension(
        name=next(iter(strings("name")), "?"),
        how=how,
        sources=strings("sources"),
        location=location,
        include_dirs=strings(include),
        macros=tuple(_macros(unit, keywords.get("define_macros"))),
        flags=tuple(flag for flag in host if flag.startswith("-")),
        device_flags=tuple(flag for flag in device if flag.startswith("-")),
    )


def _resolved_strings(unit: PythonUnit, node: Node, depth: int = _MAX_DEPTH) -> Iterator[str]:
    """String literals below a node, and those assigned to its variables elsewhere in the file."""
    yield from _strings(unit, node)
    if depth:
        for name in {unit.slice(inner) for inner in walk(node) if inner.type == "identifier"}:
            for value in _assigned_values(unit).get(name, ()):
                yield from _resolved_strings(unit, value, depth - 1)


def _assigned_values(unit: PythonUnit) -> dict[str, list[Node]]:
    """Every value that is assigned or added to each variable."""
    values: dict[str, list[Node]] = {}
    for node in unit.nodes("assignment", "augmented_assignment"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None and left.type == "identifier":
            values.setdefault(unit.slice(left), []).append(right)
    return values


def _flags_by_compiler(unit: PythonUnit, node: Node | None) -> tuple[list[str], list[str]]:
    """Host and device flags. A dictionary has one list per compiler; a plain list applies to both."""
    if node is None:
        return [], []
    values = _assigned_values(unit).get(unit.slice(node), [node]) if node.type == "identifier" else [node]
    pairs = [inner for value in values for inner in walk(value) if inner.type == "pair"]
    flags: dict[str, list[str]] = {}
    for pair in pairs:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is not None and value is not None:
            flags[unit.slice(key).strip("\"'")] = list(_resolved_strings(unit, value))
    if not pairs:
        both = list(_resolved_strings(unit, node))
        return both, both
    return flags.get("cxx", []), flags.get("nvcc", [])


def _macros(unit: PythonUnit, node: Node | None) -> Iterator[str]:
    """Macros as NAME or NAME=VALUE, from the (name, value) tuples of distutils."""
    for inner in walk(node) if node is not None else ():
        if inner.type == "tuple" and inner.named_children:
            name, *value = (string_value(unit, part) for part in inner.named_children if part.type == "string")
            if name:
                yield f"{name}={value[0]}" if value else name


def _arguments(unit: PythonUnit, arguments: Node, positions: tuple[str, ...]) -> dict[str, Node]:
    """Arguments by parameter name. Positional ones count up to the first keyword argument or splat."""
    items = [argument for argument in arguments.named_children if argument.type != "comment"]
    plain = takewhile(lambda argument: argument.type not in _NOT_POSITIONAL, items)
    by_name = dict(zip(positions, plain, strict=False))
    for argument in items:
        name, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
        if argument.type == "keyword_argument" and name is not None and value is not None:
            by_name[unit.slice(name)] = value
    return by_name


def _strings(unit: PythonUnit, node: Node) -> list[str]:
    """String literals below a node. Those of a path join, such as os.path.join(root, "csrc", "a.cu"), form one path."""
    texts, stack = [], [node]
    while stack:
        inner = stack.pop()
        function = inner.child_by_field_name("function")
        if function is not None and unit.slice(function).rsplit(".", 1)[-1] in _PATH_JOINS:
            parts = (string_value(unit, part) for part in walk(inner) if part.type == "string")
            texts.append("/".join(part for part in parts if part))
        elif inner.type == "string":
            texts.append(string_value(unit, inner) or "")
        else:
            stack.extend(reversed(inner.named_children))
    return [text for text in texts if text]
