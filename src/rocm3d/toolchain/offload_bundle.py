"""AMD code inside host objects: clang's offload bundles, plain and compressed.

Format: https://clang.llvm.org/docs/ClangOffloadBundler.html
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import zstandard

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED = b"CCOB"
_ZLIB, _ZSTD = 0, 1
# Version of the compressed form: layout of what follows the version and method fields, hash included.
_LAYOUTS = {1: "<IQ", 2: "<IIQ", 3: "<QQQ"}
_MOST_BYTES = 2 * 1024**3
_MOST_ENTRIES = 4096


class BrokenBundle(Exception):  # noqa: N818  (says what the file is, as the reader asks it)
    """The bytes begin as a bundle and do not go on as one."""


@dataclass(frozen=True)
class Entry:
    """Code for one target: `target` is gfx942:sramecc+:xnack-, or empty for the host's own entry."""

    target: str
    data: bytes


def read_bundles(section: bytes) -> Iterator[Entry]:
    """Every entry of every bundle in a section; linkers lay several one after another, with padding between."""
    at = 0
    while True:
        found = [place for mark in (PLAIN, COMPRESSED) if (place := section.find(mark, at)) >= 0]
        if not found:
            return
        start = min(found)
        if section.startswith(PLAIN, start):
            entries, end = _plain(section[start:])
        else:
            inner, size = _expanded(section[start:])
            entries, _ = _plain(inner)
            end = size
        yield from entries
        at = start + max(end, len(COMPRESSED))


def _plain(data: bytes) -> tuple[list[Entry], int]:
    try:
        (count,) = struct.unpack_from("<Q", data, len(PLAIN))
        at, end, entries = len(PLAIN) + 8, len(PLAIN) + 8, []
        if count > _MOST_ENTRIES or not data.startswith(PLAIN):
            raise BrokenBundle(f"{count} entries")
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", data, at)
            name = data[at + 24 : at + 24 + length].decode("ascii", errors="replace")
            at += 24 + length
            if offset + size > len(data):
                raise BrokenBundle("an entry ends after the file")
            entries.append(Entry(_target(name), data[offset : offset + size]))
            end = max(end, at, offset + size)
    except struct.error as error:
        raise BrokenBundle(str(error)) from error
    return entries, end


def _target(name: str) -> str:
    kind, _, rest = name.partition("-")
    return rest.rpartition("--")[2] if kind.startswith("hip") else ""


def _expanded(data: bytes) -> tuple[bytes, int]:
    """The bundle inside a compressed one, and how many bytes that took."""
    try:
        version, method = struct.unpack_from("<HH", data, len(COMPRESSED))
        layout = _LAYOUTS.get(version)
        if layout is None:
            raise BrokenBundle(f"compressed form {version} is not known")
        *sizes, _ = struct.unpack_from(layout, data, 8)
    except struct.error as error:
        raise BrokenBundle(str(error)) from error
    header = 8 + struct.calcsize(layout)
    # The first form does not say where it ends: whatever follows the stream is left alone by both methods.
    total = sizes[0] if len(sizes) > 1 else len(data)
    if sizes[-1] > _MOST_BYTES or total < header:
        raise BrokenBundle(f"{sizes[-1]} bytes when unpacked")
    packed = data[header:total]
    try:
        if method == _ZSTD:
            return zstandard.ZstdDecompressor().decompressobj().decompress(packed), total
        if method == _ZLIB:
            return zlib.decompressobj().decompress(packed, sizes[-1]), total
    except (zstandard.ZstdError, zlib.error) as error:
        raise BrokenBundle(str(error)) from error
    raise BrokenBundle(f"compression method {method} is not known")
