"""What a C++ file declares: device-only members, pointers, operators of torch, and ROCm shims.

Device-only members of structs (`__device__` without `__host__`) are found by regular expressions because the grammar
does not parse `struct __align__(16) Name {`. ROCm shims are CUDA device functions that a file defines itself for ROCm
builds only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from tree_sitter import Node

from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.guards import PreprocessorContext

_STRUCT = re.compile(
    rb"\b(?:struct|class)\s+(?:(?:__align__|alignas)\s*\([^)]*\)\s*)?(\w+)\s*(?:final\s*)?(?::[^;{}()]{0,1000})?\{"
)
_MEMBER_NAME = re.compile(rb"(?:\b(\w+)\s*::\s*)?(\boperator\s*(?:\(\s*\)|[^\s\w(]+|\w+)|~?\b\w+)\s*\(")
_ATTRIBUTE = re.compile(rb"\b(?:__launch_bounds__|__align__|alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)")
_POINTER_NAME = re.compile(r"\*\s*(?:__restrict__\s*|const\s*)*(\w+)")
_LEFTMOST = re.compile(r"[\s(&*]*(\w+)")
_CAST = re.compile(r"[\s(]*(?:(?:reinterpret|static)_cast\s*<|\()\s*(?:const\s+|volatile\s+)*([\w:]+)\s*\*")
_REGISTERING_METHOD = ".op"  # `torch::RegisterOperators().op("name", &function)`
_ROCM_GUARD = re.compile(rb"\b(?:USE_ROCM|__HIP\w*|TORCH_HIP_VERSION)\b")
# All detectors read one file in turn. Weak, so that a unit and its tree are freed after the scan of the file.
_cached_names: WeakKeyDictionary[CudaUnit, frozenset[str]] = WeakKeyDictionary()
_StructBody = tuple[bytes, int, int]


@dataclass(frozen=True)
class DeviceMember:
    """One declaration: struct name, member name, byte offset of its `__device__`."""

    owner: bytes
    name: bytes
    offset: int


def device_members(text: bytes) -> Iterator[DeviceMember]:
    """Every device-only member in source order; `text` has its comments blanked."""
    bodies = _struct_bodies(text)
    struct_edges, struct_names = _innermost_structs(bodies)
    names = {name for name, _, _ in bodies}
    marks = [-1, *(match.start() for match in re.finditer(rb"[;{}]", text)), len(text)]
    last_start = -1
    for match in re.finditer(rb"\b__device__\b", text):
        after = bisect_right(marks, match.start())
        start, end = marks[after - 1] + 1, marks[after]
        if start == last_start:
            continue  # a second __device__ of the same declaration
        last_start = start
        declaration = _ATTRIBUTE.sub(lambda attribute: b" " * len(attribute.group()), text[start:end])
        name_match = _MEMBER_NAME.search(declaration, match.end() - start)
        if name_match is None or b"__host__" in declaration:
            continue
        owner = name_match.group(1) or struct_names[bisect_right(struct_edges, match.start())]
        if owner in names:
            yield DeviceMember(owner, b"".join(name_match.group(2).split()), match.start())


def _innermost_structs(bodies: list[_StructBody]) -> tuple[list[int], list[bytes]]:
    """Offsets where the innermost struct changes, and its name before the first and after each of them."""
    starts, ends = ([(first, 1, name) for name, first, _ in bodies], [(last, 0, b"") for _, _, last in bodies])
    edges, names, stack = [], [b""], [b""]
    for edge, opens, name in sorted(starts + ends):
        if opens:
            stack.append(name)
        else:
            stack.pop()
        edges.append(edge)
        names.append(stack[-1])
    return edges, names


def _struct_bodies(text: bytes) -> list[_StructBody]:
    """Name and byte range of the body of each struct, ordered by start."""
    heads = {match.end() - 1: match.group(1) for match in _STRUCT.finditer(text)}
    stack: list[int] = []
    bodies: list[tuple[bytes, int, int]] = []
    for match in re.finditer(rb"[{}]", text):
        if match.group() == b"{":
            stack.append(match.start())
        elif stack:
            start = stack.pop()
            if start in heads:
                bodies.append((heads[start], start, match.start()))
    return sorted(bodies, key=lambda body: body[1])


def pointee_types(unit: CudaUnit) -> Iterator[tuple[str, str]]:
    """Name and pointee type of each pointer variable and parameter."""
    for node in unit.nodes("parameter_declaration", "declaration"):
        type_node, declarator = node.child_by_field_name("type"), node.child_by_field_name("declarator")
        name_match = declarator and _POINTER_NAME.search(unit.slice(declarator))
        if name_match and type_node:
            yield name_match.group(1), unit.slice(type_node)


def pointee_type(unit: CudaUnit, expression: Node, declared: Mapping[str, str]) -> str | None:
    """The pointee type of an expression: from a leading cast, else from the declaration of its leftmost name."""
    text = unit.slice(expression)
    cast = _CAST.match(text)
    if cast is not None:
        return cast.group(1)
    name_match = _LEFTMOST.match(text)
    return None if name_match is None else declared.get(name_match.group(1))


def registered_noexcept_functions(unit: CudaUnit) -> Iterator[Node]:
    """`&function` nodes in registrations of functions that the file declares noexcept and without parameters."""
    noexcept_names = {_declared_function(unit, node) for node in unit.nodes("noexcept")} - {""}
    for call in unit.nodes("call_expression") if noexcept_names else ():
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None or not unit.slice(function).endswith(_REGISTERING_METHOD):
            continue
        for node in arguments.named_children:
            name = unit.slice(node).removeprefix("&").strip().rpartition("::")[2]
            if node.type == "pointer_expression" and name in noexcept_names and unit.is_shared(node.start_byte):
                yield node


def _declared_function(unit: CudaUnit, node: Node) -> str:
    """The name of the function declared with this noexcept, if it has no parameters; else empty."""
    function = node.parent
    if function is None or function.type != "function_declarator":
        return ""
    name, parameters = function.child_by_field_name("declarator"), function.child_by_field_name("parameters")
    if name is None or parameters is None or unit.slice(parameters).replace("void", "").strip("() \t\n"):
        return ""
    return unit.slice(name).rpartition("::")[2]


def rocm_shim_names(unit: CudaUnit) -> frozenset[str]:
    """Macro names, and function names with the type of the first parameter: `__syncwarp`, `__ldg(at::Half`."""
    if unit not in _cached_names:
        _cached_names[unit] = _find_shim_names(unit)
    return _cached_names[unit]


def _find_shim_names(unit: CudaUnit) -> frozenset[str]:
    if not _ROCM_GUARD.search(unit.data):
        return frozenset()
    context = PreprocessorContext.of(unit.data)
    names = set()
    for node in unit.nodes("preproc_def", "preproc_function_def", "function_declarator"):
        if unit.is_shared(node.start_byte) or not context.can_compile_for_rocm(node.start_byte):
            continue
        is_function = node.type == "function_declarator"
        name = node.child_by_field_name("declarator" if is_function else "name")
        parameters = node.child_by_field_name("parameters") if is_function else None
        first_type = (
            parameters.named_children[0].child_by_field_name("type")
            if parameters is not None and parameters.named_children
            else None
        )
        if name is not None:
            names.add(unit.slice(name) + (f"({unit.slice(first_type)}" if first_type else ""))
    return frozenset(names)
