"""Device-only members of structs: `__device__` without `__host__`, declared or defined.

Found by regular expressions because the grammar does not parse `struct __align__(16) Name {`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

_STRUCT = re.compile(
    rb"\b(?:struct|class)\s+(?:(?:__align__|alignas)\s*\([^)]*\)\s*)?(\w+)\s*(?:final\s*)?(?::[^;{}()]{0,1000})?\{"
)
_NAME = re.compile(rb"(?:\b(\w+)\s*::\s*)?(\boperator\s*(?:\(\s*\)|[^\s\w(]+|\w+)|~?\b\w+)\s*\(")
_ATTRIBUTE = re.compile(rb"\b(?:__launch_bounds__|__align__|alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)")
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
        name_match = _NAME.search(declaration, match.end() - start)
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
