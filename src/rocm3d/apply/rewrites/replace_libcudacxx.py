"""Replaces tuple and plus of CUDA's standard library by rocPRIM's tuple and a sum functor on ROCm.

Parameters: namespace, tuple (ROCm's), headers, tuple_header (ROCm's), guard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm3d.apply.guarded_lines import (
    LineReplacement,
    Replacement,
    guard_lines,
    helper_sources,
    insert_guarded,
    replace_lines,
    shared_includes,
    shared_matches,
)
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive
from rocm3d.syntax.unit import walk

_PLUS_ARGUMENTS = re.compile(rb"(?:\s*<[\w:\s]*>)?")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits uses, inserts what they need, then edits includes. A file that uses more of the library is refused."""
    unit = CudaUnit("", data)
    used, replacements = _uses(unit, parameters)
    needs_header = "tuple" in used and not any(is_tuple for _, is_tuple in _library_includes(unit, parameters))
    prelude = f"#include <{parameters['tuple_header']}>\n" if needs_header else ""
    prelude += helper_sources(["plus"]) if "plus" in used else ""
    changed = guard_lines(data, replacements, parameters)
    if prelude:
        changed = insert_guarded(changed, prelude, parameters, min(use.start for use in replacements))
    return _with_edited_includes(changed, parameters)


def _uses(unit: CudaUnit, parameters: Parameters) -> tuple[set[str], list[Replacement]]:
    namespace_pattern = r"\s*::\s*".join(map(re.escape, str(parameters["namespace"]).split("::")))
    pattern = re.compile(rf"(?<![\w:])(?:::\s*)?{namespace_pattern}\s*::\s*(\w+)".encode())
    used: set[str] = set()
    replacements: list[Replacement] = []
    for match in shared_matches(unit, pattern):
        member = match.group(1).decode()
        if member not in ("tuple", "plus"):
            raise RewriteRefusedError(f"no counterpart on ROCm is known for {parameters['namespace']}::{member}")
        used.add(member)
        end = _PLUS_ARGUMENTS.match(unit.data, match.end()) if member == "plus" else None
        text = str(parameters["tuple"]) if member == "tuple" else "rocm3d_plus"
        replacements.append(Replacement(match.start(), end.end() if end else match.end(), text.encode()))
    return used, [*replacements, *_edited_returns(unit, pattern, str(parameters["tuple"]))]


def _edited_returns(unit: CudaUnit, pattern: re.Pattern[bytes], rocm_tuple: str) -> Iterator[Replacement]:
    """rocPRIM's constructor is explicit: `return {a, b}` must name the type."""
    for function in unit.nodes("function_definition"):
        type_node = function.child_by_field_name("type")
        text = b"" if type_node is None else unit.data[type_node.start_byte : type_node.end_byte]
        match = pattern.match(text)
        if match is None or match.group(1) != b"tuple" or not unit.is_shared(function.start_byte):
            continue
        tuple_type = rocm_tuple.encode() + text[match.end() :]
        returns = [node for node in walk(function) if node.type == "return_statement"]
        for value in [value for node in returns for value in node.named_children if value.type == "initializer_list"]:
            inner = unit.data[value.start_byte + 1 : value.end_byte - 1]
            yield Replacement(value.start_byte, value.end_byte, tuple_type + b"(" + inner.strip() + b")")


def _library_includes(unit: CudaUnit, parameters: Parameters) -> list[tuple[Directive, bool]]:
    """The library's includes that both builds see, and whether each is that of tuple."""
    names = list_parameter(parameters, "headers")
    return [
        (directive, header.endswith("/tuple"))
        for directive, header in shared_includes(unit)
        if header.startswith(names)
    ]


def _with_edited_includes(data: bytes, parameters: Parameters) -> bytes:
    """Guards the library's headers; only the tuple header has a counterpart on ROCm."""
    tuple_include = f"#include <{parameters['tuple_header']}>\n"
    choices = [
        LineReplacement(directive.start, directive.end, tuple_include if is_tuple else None)
        for directive, is_tuple in _library_includes(CudaUnit("", data), parameters)
    ]
    return replace_lines(data, choices, parameters)
