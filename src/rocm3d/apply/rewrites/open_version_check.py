"""Lets checks for a minimum CUDA version accept ROCm if they only guard headers that ROCm has.

A function that returns the version returns HIP's on ROCm. Parameters: macros, headers, number (HIP's version macro),
number_header (its header), instead_of (CUDA headers that are included only for the version), guard.
"""

from __future__ import annotations

import re

from rocm3d.apply.guarded_lines import (
    LineReplacement,
    Replacement,
    extend_conditions,
    guard_condition,
    guard_lines,
    includes,
    insert_guarded,
    replace_lines,
    shared_includes,
    without_includes,
)
from rocm3d.apply.rewrite import list_parameter
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import Directive, directives
from rocm3d.syntax.guards import IfChain, if_chains

_API = re.compile(rb"\bcu(?:da)?[A-Z]\w*")


def edit(data: bytes, parameters: Parameters) -> bytes:
    """A check that guards other code stays unchanged: ROCm may lack the API of a newer toolkit."""
    macros = "|".join(re.escape(macro) for macro in list_parameter(parameters, "macros"))
    minimum_version = re.compile(rf"(?:defined\s*\(\s*(?:{macros})\s*\)\s*&&\s*)?(?:{macros})\s*>=?\s*[0-9]+")
    chains_by_start = {chain.branches[0].start: chain for chain in if_chains(data)}

    def is_header_check(directive: Directive) -> bool:
        chain = chains_by_start.get(directive.start)
        is_minimum_check = minimum_version.fullmatch(directive.argument) is not None
        return (
            is_minimum_check
            and chain is not None
            and _holds_only_headers(data, chain, set(list_parameter(parameters, "headers")))
        )

    return _with_edited_returns(
        extend_conditions(data, is_header_check, guard_condition(parameters).decode()), parameters
    )


def _with_edited_returns(data: bytes, parameters: Parameters) -> bytes:
    """Returns HIP's version instead of `CUDA_VERSION` on ROCm, and includes its header."""
    unit, macros = CudaUnit("", data), list_parameter(parameters, "macros")
    replacements = [
        Replacement.of(node, str(parameters["number"]))
        for statement in unit.nodes("return_statement")
        for node in statement.named_children
        if node.type == "identifier" and unit.slice(node) in macros and unit.is_shared(node.start_byte)
    ]
    return _with_header(guard_lines(data, replacements, parameters), parameters) if replacements else data


def _with_header(data: bytes, parameters: Parameters) -> bytes:
    """Replaces a CUDA header that nothing else needs; otherwise inserts the include after the others."""
    line = f"#include <{parameters['number_header']}>\n"
    for directive, header in shared_includes(CudaUnit("", data)):
        if header in list_parameter(parameters, "instead_of") and not _API.search(data):
            return replace_lines(data, [LineReplacement(directive.start, directive.end, line)], parameters)
    return insert_guarded(data, line, parameters)


def _holds_only_headers(data: bytes, chain: IfChain, headers: set[str]) -> bool:
    """Whether the first branch holds only includes of these headers, and aliases of what they define."""
    branch = chain.branches[0]
    inner_directives = [
        directive for directive in directives(data) if branch.body_start <= directive.start < branch.end
    ]
    included = {header for directive, header in includes(data) if directive in inner_directives}
    code = without_includes(data)[branch.body_start : branch.end]
    first_words = [line.split()[0] for line in code.split(b";") if line.strip()]
    return (
        bool(included)
        and included <= headers
        and len(included) == len(inner_directives)
        and set(first_words) <= {b"using", b"typedef"}
    )
