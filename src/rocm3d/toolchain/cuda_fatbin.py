"""Reads CUDA fat binaries inside host objects: which sm_ and compute_ targets they hold.

NVIDIA does not document the container. We read only the fields that public tools agree on.
"""

from __future__ import annotations

import struct

SECTIONS = (".nv_fatbin", "__nv_relfatbin")
_MAGIC = struct.pack("<I", 0xBA55ED50)
_KINDS = {1: "compute", 2: "sm"}
_ARCH_OFFSET = 28
_MIN_HEADER_BYTES = 64


def read_fatbin(section: bytes) -> list[str]:
    """Sorted targets such as `sm_90`. Unreadable parts are skipped."""
    targets: set[tuple[int, str]] = set()
    offset = section.find(_MAGIC)
    while offset >= 0:
        try:
            header, size = struct.unpack_from("<6xHQ", section, offset)
        except struct.error:
            break
        end = min(offset + header + size, len(section))
        _add_targets(section, offset + header, end, targets)
        offset = section.find(_MAGIC, max(end, offset + 4))
    return [f"{kind}_{number}" for number, kind in sorted(targets)]


def _add_targets(section: bytes, offset: int, end: int, targets: set[tuple[int, str]]) -> None:
    while offset + _MIN_HEADER_BYTES <= end:
        kind, header, size = struct.unpack_from("<HxxIQ", section, offset)
        (number,) = struct.unpack_from("<I", section, offset + _ARCH_OFFSET)
        if kind not in _KINDS or header < _MIN_HEADER_BYTES or not number:
            return
        targets.add((number, _KINDS[kind]))
        offset += header + size
