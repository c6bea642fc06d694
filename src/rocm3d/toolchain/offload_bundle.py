"""Reads clang's offload bundles, plain and compressed: AMD code inside host objects.

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
# By version of the compressed format: layout of the fields after version and method, including the hash.
_LAYOUTS = {1: "<IQ", 2: "<IIQ", 3: "<QQQ"}
_MOST_BYTES = 2 * 1024**3
_MOST_ENTRIES = 4096


class BrokenBundle(Exception):  # noqa: N818
    """The bytes start like a bundle but are corrupt or of an unknown version."""


@dataclass(frozen=True)
class Entry:
    """Code for one target, such as gfx942:sramecc+:xnack-. `target` is empty for the host entry."""

    target: str
    data: bytes


def read_bundles(section: bytes) -> Iterator[Entry]:
    """All entries of all bundles in a section. Linkers concatenate bundles with padding between them."""
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
                raise BrokenBundle("an entry extends past the end of the data")
            entries.append(Entry(_target(name), data[offset : offset + size]))
            end = max(end, at, offset + size)
    except struct.error as error:
        raise BrokenBundle(str(error)) from error
    return entries, end


def _target(name: str) -> str:
    kind, _, rest = name.partition("-")
    return rest.rpartition("--")[2] if kind.startswith("hip") else ""


def _expanded(data: bytes) -> tuple[bytes, int]:
    """The decompressed bundle, and the size in bytes of the compressed one."""
    try:
        version, method = struct.unpack_from("<HH", data, len(COMPRESSED))
        layout = _LAYOUTS.get(version)
        if layout is None:
            raise BrokenBundle(f"unknown version {version} of the compressed format")
        *sizes, _ = struct.unpack_from(layout, data, 8)
    except struct.error as error:
        raise BrokenBundle(str(error)) from error
    header = 8 + struct.calcsize(layout)
    # Version 1 has no total size. Both decompressors ignore data after the stream.
    total = sizes[0] if len(sizes) > 1 else len(data)
    if sizes[-1] > _MOST_BYTES or total < header:
        raise BrokenBundle(f"invalid size: {sizes[-1]} bytes uncompressed")
    packed = data[header:total]
    try:
        if method == _ZSTD:
            return zstandard.ZstdDecompressor().decompressobj().decompress(packed), total
        if method == _ZLIB:
            return zlib.decompressobj().decompress(packed, sizes[-1]), total
    except (zstandard.ZstdError, zlib.error) as error:
        raise BrokenBundle(str(error)) from error
    raise BrokenBundle(f"unknown compression method {method}")
