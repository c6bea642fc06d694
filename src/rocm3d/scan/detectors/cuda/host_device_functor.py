"""A value type whose constructors are __device__ only: hipCUB and rocPRIM also construct its values in host code.

Reports each __device__-only member, declared or defined, of a struct with a __device__-only constructor. The struct
must be used with a device algorithm of cub or thrust, or be a type with arithmetic operators in a header, which other
files may use with one. A functor with only operator() is not reported: ports did not need to change those. The code
searches the text without comments, because the grammar cannot parse `struct __align__(16) Name {`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import DeviceMember, device_members
from rocm3d.syntax.directives import blanked

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALGORITHM = re.compile(rb"\b(cub::Device\w+|thrust::\w+)")
_HEADERS = (".cuh", ".h", ".hpp", ".hh", ".inl")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches all __device__-only members of the structs that are passed to host-side algorithms."""
    if b"__device__" not in unit.data:
        return
    text = blanked(unit.data)
    members = list(device_members(text))
    value_types = {member.owner for member in members if member.name == member.owner}
    uses = _uses(unit.path, text, value_types, members)
    for member in members:
        if member.owner in uses and unit.is_shared(member.offset):
            line, column = unit.text.position(member.offset)
            name = b"::".join((member.owner, member.name)).decode("utf-8", "replace")
            yield Match(line, column, {"name": name, "use": uses[member.owner]})


def _uses(path: str, text: bytes, owners: set[bytes], members: list[DeviceMember]) -> dict[bytes, str]:
    """The use of each struct in host code, as message text: the first algorithm, else a possible use in other files."""
    uses_by_type: dict[bytes, str] = {}
    for match, statement in _algorithm_statements(text):
        for name in owners.intersection(re.findall(rb"\w+", statement)):
            uses_by_type.setdefault(name, f"is passed to {match.decode('ascii', 'replace')}")
    if path.endswith(_HEADERS):
        for member in members:
            if member.owner in owners and re.match(rb"operator[-+*/<>=]", member.name):
                uses_by_type.setdefault(member.owner, "is a value type that other files may sort or sum")
    return uses_by_type


def _algorithm_statements(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yields the first algorithm of each statement that contains one, and the statement."""
    done = 0
    for match in _ALGORITHM.finditer(text):
        if match.start() >= done:
            start, end = text.rfind(b";", 0, match.start()) + 1, text.find(b";", match.end())
            done = end if end >= 0 else len(text)
            yield match.group(1), text[start:done]


detector = Detector(__name__, code="CU305", unit_types=CudaUnit, find=find)
