"""Makes members of value types and functors `__host__ __device__` on ROCm, with one alias macro. Parameters: guard."""

from __future__ import annotations

import re

from rocm3d.apply.macro_aliases import AliasUse, MacroAlias, insert_aliases
from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.model.recipe import Parameters
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.declarations import DeviceMember, device_members
from rocm3d.syntax.directives import blanked

_HOST_DEVICE = MacroAlias("HOST_DEVICE", cuda="__device__", rocm="__host__ __device__")
# Code that cannot run on the host: a member that contains it stays `__device__`.
_DEVICE_ONLY_CODE = re.compile(
    rb"\b(?:threadIdx|blockIdx|blockDim|gridDim|warpSize|__shared__|asm)\b|\b(?:__[a-z]\w*|atomic[A-Z]\w*)\s*\("
)


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Edits structs with a constructor or operator(): algorithms may construct or call these on the host."""
    unit, code = CudaUnit("", data), blanked(data)
    members = [member for member in device_members(code) if unit.is_shared(member.offset)]
    owners = {member.owner for member in members if member.name in (member.owner, b"operator()")}
    candidates = [member for member in members if member.owner in owners]
    uses = [
        AliasUse(member.offset, member.offset + len(_HOST_DEVICE.cuda), _HOST_DEVICE)
        for member in candidates
        if not _DEVICE_ONLY_CODE.search(_body(code, member))
    ]
    if candidates and not uses and _HOST_DEVICE.macro_name.encode() not in data:
        raise RewriteRefusedError("every member contains code that only the device can run")
    return insert_aliases(data, uses, parameters)


def _body(code: bytes, member: DeviceMember) -> bytes:
    """The body of a definition with its braces; empty for a declaration."""
    semicolon, start = code.find(b";", member.offset), code.find(b"{", member.offset)
    if start < 0 or 0 <= semicolon < start:
        return b""
    depth = 0
    for match in re.finditer(rb"[{}]", code[start:]):
        depth += 1 if match.group() == b"{" else -1
        if depth == 0:
            return code[start : start + match.end()]
    return code[start:]
