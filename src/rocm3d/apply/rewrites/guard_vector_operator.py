"""Hides a file's vector operators on ROCm if HIP's vector types already define them. Parameters: types, guard."""

from __future__ import annotations

import re

from tree_sitter import Node

from rocm3d.apply.guarded_lines import LineReplacement, replace_lines
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

_CLASHING = re.compile(r"operator\s*([-+*/]=|[*/])$")
# An operator that is only __device__ takes precedence over HIP's and can stay.
_DEVICE_ONLY = re.compile(r"__device__")
_HOST_TOO = re.compile(r"__host__|host_?device|device_?host|\bHD\b|constexpr", re.IGNORECASE)


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Hides each clashing component-wise operator; one that computes something else is refused."""
    unit, types = CudaUnit("", data), set(list_parameter(parameters, "types"))
    hidden_lines = []
    for node in unit.nodes("function_definition"):
        operator = _clashing_operator(unit, node, types)
        if operator is None or not unit.is_shared(node.start_byte):
            continue
        sign, vector_type = operator
        if not _is_component_wise(unit, node, sign, vector_type):
            raise RewriteRefusedError(f"operator{sign} of {vector_type} is not component-wise like HIP's")
        hidden_lines.append(_whole_lines(data, node))
    return replace_lines(data, hidden_lines, parameters)


def _clashing_operator(unit: CudaUnit, node: Node, types: set[str]) -> tuple[str, str] | None:
    """The sign and the vector type of an operator that clashes with HIP's."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type == "reference_declarator":
        declarator = next(iter(declarator.named_children), None)
    name_node = None if declarator is None else declarator.child_by_field_name("declarator")
    match = None if name_node is None else _CLASHING.match(unit.slice(name_node))
    parameter_list = None if declarator is None else declarator.child_by_field_name("parameters")
    if match is None or parameter_list is None or declarator is None:
        return None
    type_names = [
        unit.slice(type_node)
        for parameter in parameter_list.named_children
        if (type_node := parameter.child_by_field_name("type"))
    ]
    qualifiers = unit.data[node.start_byte : declarator.start_byte].decode("utf-8", "replace")
    if len(type_names) != 2 or type_names[0] != type_names[1] or type_names[0] not in types:
        return None
    is_device_only = _DEVICE_ONLY.search(qualifiers) and not _HOST_TOO.search(qualifiers)
    return None if is_device_only else (match.group(1), type_names[0])


def _is_component_wise(unit: CudaUnit, node: Node, sign: str, vector_type: str) -> bool:
    """Whether each component is computed from the same component of both operands, and nothing else is."""
    body = node.child_by_field_name("body") or node
    remaining = blanked(unit.data)[body.start_byte : body.end_byte].decode("utf-8", "replace")
    for component in "xyzw"[: int(vector_type[-1])]:
        remaining, count = re.subn(rf"\.{component}\s*{re.escape(sign[0])}=?\s*\w+\.{component}\b", "", remaining)
        if count != 1:
            return False
    return re.search(r"[-+*/%]", remaining) is None


def _whole_lines(data: bytes, node: Node) -> LineReplacement:
    start, end = data.rfind(b"\n", 0, node.start_byte) + 1, data.find(b"\n", node.end_byte) + 1
    if data[start : node.start_byte].strip() or data[node.end_byte : end].strip() or not end:
        raise RewriteRefusedError("an operator shares its line with other code")
    return LineReplacement(start, end, None)
