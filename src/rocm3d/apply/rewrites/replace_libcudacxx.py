"""Replaces tuple and plus of CUDA's standard library by rocPRIM's tuple and a sum functor on ROCm.

Parameters: namespace, tuple (ROCm's), headers, tuple_header (ROCm's), guard.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from rocm3d.apply.device_helpers import helper_sources
from rocm3d.apply.guarded_lines import (
    LineReplacement,
    Replacement,
    guard_lines,
    insert_guarded,
    offset_after_includes,
    replace_lines,
)
from rocm3d.apply.rewrite import RewriteRefusedError, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive, blanked, directives
from rocm3d.syntax.unit import walk

_PLUS_ARGUMENTS = re.compile(rb"(?:\s*<[\w:\s]*>)?")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits uses, inserts what they need, then edits includes. A file that uses more of the library is refused."""
    unit = CudaUnit("", data)
    used, replacements = _uses(unit, parameters)
    prelude = (
        f"#include <{parameters['tuple_header']}>\n"
        if "tuple" in used and not _includes_tuple(unit, parameters)
        else ""
    )
    prelude += helper_sources(["plus"]) if "plus" in used else ""
    changed = guard_lines(data, replacements, parameters)
    if prelude:
        first_use = min(replacement.start for replacement in replacements)
        changed = insert_guarded(changed, offset_after_includes(changed, first_use), prelude.encode(), parameters)
    return _with_edited_includes(changed, parameters)


def _uses(unit: CudaUnit, parameters: Parameters) -> tuple[set[str], list[Replacement]]:
    namespace_pattern = r"\s*::\s*".join(map(re.escape, str(parameters["namespace"]).split("::")))
    pattern = re.compile(rf"(?<![\w:])(?:::\s*)?{namespace_pattern}\s*::\s*(\w+)".encode())
    used: set[str] = set()
    replacements: list[Replacement] = []
    for match in pattern.finditer(blanked(unit.data)):
        member = match.group(1).decode()
        if not unit.is_shared(match.start()):
            continue
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
        for initializer in _returned_lists(function):
            inner = unit.data[initializer.start_byte + 1 : initializer.end_byte - 1]
            yield Replacement(initializer.start_byte, initializer.end_byte, tuple_type + b"(" + inner.strip() + b")")


def _returned_lists(function: Node) -> Iterator[Node]:
    for node in walk(function):
        if node.type == "return_statement":
            yield from (child for child in node.named_children if child.type == "initializer_list")


def _library_includes(unit: CudaUnit, parameters: Parameters) -> list[Directive]:
    """The library's includes that both builds see."""
    names = list_parameter(parameters, "headers")
    return [
        directive
        for directive in directives(unit.data)
        if directive.keyword == "include"
        and directive.argument.strip('<>"').startswith(names)
        and unit.is_shared(directive.start)
    ]


def _includes_tuple(unit: CudaUnit, parameters: Parameters) -> bool:
    return any(directive.argument.strip('<>"').endswith("/tuple") for directive in _library_includes(unit, parameters))


def _with_edited_includes(data: bytes, parameters: Parameters) -> bytes:
    """Guards the library's headers; only the tuple header has a counterpart on ROCm."""
    choices = []
    for directive in _library_includes(CudaUnit("", data), parameters):
        is_tuple_header = directive.argument.strip('<>"').endswith("/tuple")
        choices.append(
            LineReplacement(
                directive.start,
                directive.end,
                f"#include <{parameters['tuple_header']}>\n" if is_tuple_header else None,
            )
        )
    return replace_lines(data, choices, parameters)
