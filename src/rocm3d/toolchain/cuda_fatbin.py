"""Reads CUDA fat binaries inside host objects: which sm_ and compute_ targets they hold.

NVIDIA does not document the container. We read only the fields that public tools agree on.
"""

from __future__ import annotations

import struct

SECTIONS = (".nv_fatbin", "__nv_relfatbin")
_MAGIC = struct.pack("<I", 0xBA55ED50)
_KINDS = {1: "compute", 2: "sm"}
_ARCH_OFFSET = 28
_LEAST_HEADER = 64


def read_fatbin(section: bytes) -> list[str]:
    """Sorted targets such as `sm_90`. Unreadable parts are skipped."""
    found: set[tuple[int, str]] = set()
    at = section.find(_MAGIC)
    while at >= 0:
        try:
            header, size = struct.unpack_from("<6xHQ", section, at)
        except struct.error:
            break
        end = min(at + header + size, len(section))
        _entries(section, at + header, end, found)
        at = section.find(_MAGIC, max(end, at + 4))
    return [f"{kind}_{number}" for number, kind in sorted(found)]


def _entries(section: bytes, at: int, end: int, found: set[tuple[int, str]]) -> None:
    while at + _LEAST_HEADER <= end:
        kind, header, size = struct.unpack_from("<HxxIQ", section, at)
        (number,) = struct.unpack_from("<I", section, at + _ARCH_OFFSET)
        if kind not in _KINDS or header < _LEAST_HEADER or not number:
            return
        found.add((number, _KINDS[kind]))
        at += header + size
