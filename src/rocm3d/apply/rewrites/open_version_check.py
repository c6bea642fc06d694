"""Lets checks for a minimum CUDA version accept ROCm if they only guard headers that ROCm has.

A function that returns the version returns HIP's on ROCm. Parameters: macros, headers, number (HIP's version macro),
number_header (its header), instead_of (CUDA headers that are included only for the version), guard.
"""

from __future__ import annotations

import re

from rocm3d.apply.extended_condition import extend_conditions
from rocm3d.apply.guarded_lines import (
    LineReplacement,
    Replacement,
    offset_after_includes,
    replace_lines,
    guard_condition,
    guard_lines,
    insert_guarded,
)
from rocm3d.apply.rewrite import Rewrite, list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.chains import IfChain, if_chains
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive, blanked, directives

_API = re.compile(rb"\bcu(?:da)?[A-Z]\w*")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """A check that guards other code stays unchanged: ROCm may lack the API of a newer toolkit."""
    macros = "|".join(re.escape(word) for word in list_parameter(parameters, "macros"))
    newer = re.compile(rf"(?:defined\s*\(\s*(?:{macros})\s*\)\s*&&\s*)?(?:{macros})\s*>=?\s*[0-9]+")
    opened = {chain.branches[0].start: chain for chain in if_chains(data)}

    def wanted(item: Directive) -> bool:
        chain = opened.get(item.start)
        asks = newer.fullmatch(item.argument) is not None
        return asks and chain is not None and _holds_only(data, chain, set(list_parameter(parameters, "headers")))

    return _returned(extend_conditions(data, wanted, guard_condition(parameters).decode()), parameters)


def _returned(data: bytes, parameters: Parameters) -> bytes:
    """Returns HIP's version instead of `CUDA_VERSION` on ROCm, and includes its header."""
    unit, macros = CudaUnit("", data), list_parameter(parameters, "macros")
    found = [
        Replacement(node.start_byte, node.end_byte, str(parameters["number"]).encode())
        for line in unit.nodes("return_statement")
        for node in line.named_children
        if node.type == "identifier" and unit.slice(node) in macros and unit.is_shared(node.start_byte)
    ]
    return _with_header(guard_lines(data, found, parameters), parameters) if found else data


def _with_header(data: bytes, parameters: Parameters) -> bytes:
    """Replaces a CUDA header that nothing else needs; otherwise inserts the include after the others."""
    line = f"#include <{parameters['number_header']}>\n"
    unit, names = CudaUnit("", data), list_parameter(parameters, "instead_of")
    for item in directives(data):
        asked = item.keyword == "include" and item.argument.strip('<>"') in names
        if asked and unit.is_shared(item.start) and not _API.search(data):
            return replace_lines(data, [LineReplacement(item.start, item.end, line)], parameters)
    return insert_guarded(data, offset_after_includes(data), line.encode(), parameters)


def _holds_only(data: bytes, chain: IfChain, headers: set[str]) -> bool:
    """Whether the first branch holds only includes of these headers, and aliases of what they define."""
    branch = chain.branches[0]
    inside = [item for item in directives(data) if branch.body_start <= item.start < branch.end]
    text = bytearray(blanked(data)[branch.body_start : branch.end])
    for item in inside:
        text[item.start - branch.body_start : item.end - branch.body_start] = b" " * (item.end - item.start)
    named = {item.argument.strip('<">') for item in inside if item.keyword == "include"}
    rest = [line.split()[0] for line in bytes(text).split(b";") if line.strip()]
    return bool(named) and named <= headers and len(named) == len(inside) and set(rest) <= {b"using", b"typedef"}


rewrite = Rewrite(__name__, edit)
