"""Checks for a CUDA toolkit at least so new accept ROCm, where all they hold is a header that ROCm has.

Parameters: macros, headers, guard.
"""

from __future__ import annotations

import re

from rocm3d.apply.extended_condition import extend
from rocm3d.apply.guarded_lines import guard
from rocm3d.apply.rewrite import Rewrite, words
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.chains import Chain, chains
from rocm3d.syntax.directives import Directive, blanked, directives


def edit(data: bytes, parameters: Parameters) -> bytes:
    """What else a check may hold is for a person: an API of a newer toolkit need not be in ROCm."""
    macros = "|".join(re.escape(word) for word in words(parameters, "macros"))
    newer = re.compile(rf"(?:defined\s*\(\s*(?:{macros})\s*\)\s*&&\s*)?(?:{macros})\s*>=?\s*[0-9]+")
    opened = {chain.branches[0].start: chain for chain in chains(data)}

    def wanted(item: Directive) -> bool:
        chain = opened.get(item.start)
        asks = newer.fullmatch(item.argument) is not None
        return asks and chain is not None and _holds_only(data, chain, set(words(parameters, "headers")))

    return extend(data, wanted, guard(parameters).decode())


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
