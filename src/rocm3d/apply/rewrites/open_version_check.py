"""Checks for a CUDA toolkit at least so new accept ROCm, where all they hold is a header that ROCm has.

A function that returns the number returns HIP's there. Parameters: macros, headers, number (HIP's), number_header, with
instead_of the headers that are there for the number alone, guard.
"""

from __future__ import annotations

import re

from rocm3d.apply.extended_condition import extend
from rocm3d.apply.guarded_lines import (
    Lines,
    Replacement,
    after_includes,
    choose_lines,
    guard,
    guard_lines,
    insert_guarded,
)
from rocm3d.apply.rewrite import Rewrite, words
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.chains import Chain, chains
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive, blanked, directives

_API = re.compile(rb"\bcu(?:da)?[A-Z]\w*")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """What else a check may hold is for a person: an API of a newer toolkit need not be in ROCm."""
    macros = "|".join(re.escape(word) for word in words(parameters, "macros"))
    newer = re.compile(rf"(?:defined\s*\(\s*(?:{macros})\s*\)\s*&&\s*)?(?:{macros})\s*>=?\s*[0-9]+")
    opened = {chain.branches[0].start: chain for chain in chains(data)}

    def wanted(item: Directive) -> bool:
        chain = opened.get(item.start)
        asks = newer.fullmatch(item.argument) is not None
        return asks and chain is not None and _holds_only(data, chain, set(words(parameters, "headers")))

    return _returned(extend(data, wanted, guard(parameters).decode()), parameters)


def _returned(data: bytes, parameters: Parameters) -> bytes:
    """`return CUDA_VERSION;` in a guarded pair, and the header of the other number."""
    unit, macros = CudaUnit("", data), words(parameters, "macros")
    found = [
        Replacement(node.start_byte, node.end_byte, str(parameters["number"]).encode())
        for line in unit.nodes("return_statement")
        for node in line.named_children
        if node.type == "identifier" and unit.slice(node) in macros and unit.is_shared(node.start_byte)
    ]
    return _with_header(guard_lines(data, found, parameters), parameters) if found else data


def _with_header(data: bytes, parameters: Parameters) -> bytes:
    """In the place of a header of CUDA that nothing else needs; else below the others."""
    line = f"#include <{parameters['number_header']}>\n"
    unit, names = CudaUnit("", data), words(parameters, "instead_of")
    for item in directives(data):
        asked = item.keyword == "include" and item.argument.strip('<>"') in names
        if asked and unit.is_shared(item.start) and not _API.search(data):
            return choose_lines(data, [Lines(item.start, item.end, line)], parameters)
    return insert_guarded(data, after_includes(data), line.encode(), parameters)


def _holds_only(data: bytes, chain: Chain, headers: set[str]) -> bool:
    """Whether the first branch is nothing but includes of these headers, and names for what they define."""
    branch = chain.branches[0]
    inside = [item for item in directives(data) if branch.body <= item.start < branch.end]
    text = bytearray(blanked(data)[branch.body : branch.end])
    for item in inside:
        text[item.start - branch.body : item.end - branch.body] = b" " * (item.end - item.start)
    named = {item.argument.strip('<">') for item in inside if item.keyword == "include"}
    rest = [line.split()[0] for line in bytes(text).split(b";") if line.strip()]
    return bool(named) and named <= headers and len(named) == len(inside) and set(rest) <= {b"using", b"typedef"}


rewrite = Rewrite(__name__, edit)
