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
_MAX_BYTES = 2 * 1024**3
_MAX_ENTRIES = 4096


class OffloadBundleError(Exception):
    """The bytes start like a bundle but are corrupt or of an unknown version."""


@dataclass(frozen=True)
class BundleEntry:
    """Code for one target, such as gfx942:sramecc+:xnack-. `target` is empty for the host entry."""

    target: str
    data: bytes


def read_bundles(section: bytes) -> Iterator[BundleEntry]:
    """All entries of all bundles in a section. Linkers concatenate bundles with padding between them."""
    position = 0
    while True:
        starts = [offset for magic in (PLAIN, COMPRESSED) if (offset := section.find(magic, position)) >= 0]
        if not starts:
            return
        start = min(starts)
        if section.startswith(PLAIN, start):
            entries, end = _read_plain(section[start:])
        else:
            inner, size = _decompress(section[start:])
            entries, _ = _read_plain(inner)
            end = size
        yield from entries
        position = start + max(end, len(COMPRESSED))


def _read_plain(data: bytes) -> tuple[list[BundleEntry], int]:
    try:
        (count,) = struct.unpack_from("<Q", data, len(PLAIN))
        position, end, entries = len(PLAIN) + 8, len(PLAIN) + 8, []
        if count > _MAX_ENTRIES or not data.startswith(PLAIN):
            raise OffloadBundleError(f"{count} entries")
        for _ in range(count):
            offset, size, length = struct.unpack_from("<QQQ", data, position)
            name = data[position + 24 : position + 24 + length].decode("ascii", errors="replace")
            position += 24 + length
            if offset + size > len(data):
                raise OffloadBundleError("an entry extends past the end of the data")
            entries.append(BundleEntry(_target(name), data[offset : offset + size]))
            end = max(end, position, offset + size)
    except struct.error as error:
        raise OffloadBundleError(str(error)) from error
    return entries, end


def _target(name: str) -> str:
    kind, _, triple = name.partition("-")
    return triple.rpartition("--")[2] if kind.startswith("hip") else ""


def _decompress(data: bytes) -> tuple[bytes, int]:
    """The decompressed bundle, and the size in bytes of the compressed one."""
    try:
        version, method = struct.unpack_from("<HH", data, len(COMPRESSED))
        layout = _LAYOUTS.get(version)
        if layout is None:
            raise OffloadBundleError(f"unknown version {version} of the compressed format")
        *sizes, _ = struct.unpack_from(layout, data, 8)
    except struct.error as error:
        raise OffloadBundleError(str(error)) from error
    header = 8 + struct.calcsize(layout)
    # Version 1 has no total size. Both decompressors ignore data after the stream.
    total = sizes[0] if len(sizes) > 1 else len(data)
    if sizes[-1] > _MAX_BYTES or total < header:
        raise OffloadBundleError(f"invalid size: {sizes[-1]} bytes uncompressed")
    packed = data[header:total]
    try:
        if method == _ZSTD:
            return zstandard.ZstdDecompressor().decompressobj().decompress(packed), total
        if method == _ZLIB:
            return zlib.decompressobj().decompress(packed, sizes[-1]), total
    except (zstandard.ZstdError, zlib.error) as error:
        raise OffloadBundleError(str(error)) from error
    raise OffloadBundleError(f"unknown compression method {method}")
