"""Replaces tuple and plus of CUDA's standard library by rocPRIM's tuple and a sum functor on ROCm.

Parameters: namespace, tuple (ROCm's), headers, tuple_header (ROCm's), guard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.apply.device_text import helper_sources
from rocm3d.apply.guarded_lines import LineReplacement, Replacement, offset_after_includes, replace_lines, guard_lines, insert_guarded
from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite, list_parameter
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive, blanked, directives
from rocm3d.syntax.unit import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from rocm3d.model.recipe import Parameters

_PLUS = re.compile(rb"(?:\s*<[\w:\s]*>)?")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits uses, inserts what they need, then edits includes. A file that uses more of the library is refused."""
    unit = CudaUnit("", data)
    used, replacements = _uses(unit, parameters)
    needs = (
        f"#include <{parameters['tuple_header']}>\n" if "tuple" in used and not _brings_tuple(unit, parameters) else ""
    )
    needs += helper_sources(["plus"]) if "plus" in used else ""
    changed = guard_lines(data, replacements, parameters)
    if needs:
        first = min(item.start for item in replacements)
        changed = insert_guarded(changed, offset_after_includes(changed, first), needs.encode(), parameters)
    return _includes(changed, parameters)


def _uses(unit: CudaUnit, parameters: Parameters) -> tuple[set[str], list[Replacement]]:
    spelt = r"\s*::\s*".join(map(re.escape, str(parameters["namespace"]).split("::")))
    name = re.compile(rf"(?<![\w:])(?:::\s*)?{spelt}\s*::\s*(\w+)".encode())
    used: set[str] = set()
    found: list[Replacement] = []
    for match in name.finditer(blanked(unit.data)):
        what = match.group(1).decode()
        if not unit.is_shared(match.start()):
            continue
        if what not in ("tuple", "plus"):
            raise RewriteRefusedError(f"no counterpart on ROCm is known for {parameters['namespace']}::{what}")
        used.add(what)
        end = _PLUS.match(unit.data, match.end()) if what == "plus" else None
        text = str(parameters["tuple"]) if what == "tuple" else "rocm3d_plus"
        found.append(Replacement(match.start(), end.end() if end else match.end(), text.encode()))
    return used, [*found, *_returns(unit, name, str(parameters["tuple"]))]


def _returns(unit: CudaUnit, name: re.Pattern[bytes], instead: str) -> Iterator[Replacement]:
    """rocPRIM's constructor is explicit: `return {a, b}` must name the type."""
    for function in unit.nodes("function_definition"):
        kind = function.child_by_field_name("type")
        text = b"" if kind is None else unit.data[kind.start_byte : kind.end_byte]
        match = name.match(text)
        if match is None or match.group(1) != b"tuple" or not unit.is_shared(function.start_byte):
            continue
        whole = instead.encode() + text[match.end() :]
        for listed in _listed(function):
            inner = unit.data[listed.start_byte + 1 : listed.end_byte - 1]
            yield Replacement(listed.start_byte, listed.end_byte, whole + b"(" + inner.strip() + b")")


def _listed(function: Node) -> Iterator[Node]:
    for node in walk(function):
        if node.type == "return_statement":
            yield from (child for child in node.named_children if child.type == "initializer_list")


def _headers(unit: CudaUnit, parameters: Parameters) -> list[Directive]:
    """The library's includes that both builds see."""
    names = list_parameter(parameters, "headers")
    return [
        item
        for item in directives(unit.data)
        if item.keyword == "include" and item.argument.strip('<>"').startswith(names) and unit.is_shared(item.start)
    ]


def _brings_tuple(unit: CudaUnit, parameters: Parameters) -> bool:
    return any(item.argument.strip('<>"').endswith("/tuple") for item in _headers(unit, parameters))


def _includes(data: bytes, parameters: Parameters) -> bytes:
    """Guards the library's headers; only the tuple header has a counterpart on ROCm."""
    chosen = []
    for item in _headers(CudaUnit("", data), parameters):
        brings = item.argument.strip('<>"').endswith("/tuple")
        chosen.append(LineReplacement(item.start, item.end, f"#include <{parameters['tuple_header']}>\n" if brings else None))
    return replace_lines(data, chosen, parameters)


rewrite = Rewrite(__name__, edit)
