"""A value type whose constructors are __device__ only: hipCUB and rocPRIM make its values in host code too.

Reported is each __device__-only member, declared or defined, of a struct that has a __device__-only constructor and is
named together with a device algorithm of cub or thrust, or is a number-like type (it overloads operators) in a header,
from where the algorithms' files take it. A functor with nothing but operator() is left alone: ports kept those.
Read from the text without comments: `struct __align__(16) Name {` is more than the grammar takes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator

_STRUCT = re.compile(
    rb"\b(?:struct|class)\s+(?:(?:__align__|alignas)\s*\([^)]*\)\s*)?(\w+)\s*(?:final\s*)?(?::[^;{}()]*)?\{"
)
_NAME = re.compile(rb"(?:\b(\w+)\s*::\s*)?(\boperator\s*(?:\(\s*\)|[^\s\w(]+|\w+)|~?\b\w+)\s*\(")
_ATTRIBUTE = re.compile(rb"\b(?:__launch_bounds__|__align__|alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)")
_ALGORITHM = re.compile(rb"\b(cub::Device\w+|thrust::\w+)")
_HEADERS = (".cuh", ".h", ".hpp", ".hh", ".inl")


@dataclass(frozen=True)
class _Member:
    owner: bytes
    name: bytes
    offset: int


def find(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """All __device__-only members of the structs that are handed to host-side algorithms."""
    if b"__device__" not in unit.data:
        return
    text = blanked(unit.data)
    members = list(_members(text))
    made = {member.owner for member in members if member.name == member.owner}
    uses = {owner: use for owner in made if (use := _use(unit.path, text, owner, members)) is not None}
    for member in members:
        if member.owner in uses and unit.is_shared(member.offset):
            line, column = unit.text.place(member.offset)
            name = b"::".join((member.owner, member.name)).decode("utf-8", "replace")
            yield Hit(line, column, {"name": name, "use": uses[member.owner]})


def _members(text: bytes) -> Iterator[_Member]:
    bodies = list(_bodies(text))
    names = {name for name, _, _ in bodies}
    marks = [-1, *(match.start() for match in re.finditer(rb"[;{}]", text)), len(text)]
    seen = -1
    for match in re.finditer(rb"\b__device__\b", text):
        after = bisect_right(marks, match.start())
        start, end = marks[after - 1] + 1, marks[after]
        if start == seen:
            continue  # the same declaration, said twice
        seen = start
        declared = _ATTRIBUTE.sub(lambda found: b" " * len(found.group()), text[start:end])
        named = _NAME.search(declared, match.end() - start)
        if named is None or b"__host__" in declared:
            continue
        around = [name for name, first, last in bodies if first <= match.start() < last]
        owner = named.group(1) or (around[-1] if around else b"")
        if owner in names:
            yield _Member(owner, b"".join(named.group(2).split()), match.start())


def _bodies(text: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Each struct with the range between its braces."""
    heads = {match.end() - 1: match.group(1) for match in _STRUCT.finditer(text)}
    stack: list[int] = []
    found: list[tuple[bytes, int, int]] = []
    for match in re.finditer(rb"[{}]", text):
        if match.group() == b"{":
            stack.append(match.start())
        elif stack:
            start = stack.pop()
            if start in heads:
                found.append((heads[start], start, match.start()))
    return iter(sorted(found, key=lambda body: body[1]))


def _use(path: str, text: bytes, owner: bytes, members: list[_Member]) -> str | None:
    for match in _ALGORITHM.finditer(text):
        start, end = text.rfind(b";", 0, match.start()) + 1, text.find(b";", match.end())
        if re.search(rb"\b" + re.escape(owner) + rb"\b", text[start : end if end >= 0 else len(text)]):
            return f"is handed to {match.group(1).decode('ascii', 'replace')}"
    counts = any(member.owner == owner and re.match(rb"operator[-+*/<>=]", member.name) for member in members)
    return "is a value type that other files may sort or sum" if counts and path.endswith(_HEADERS) else None


detector = Detector(__name__, code="CU305", reads=CudaUnit, find=find)
