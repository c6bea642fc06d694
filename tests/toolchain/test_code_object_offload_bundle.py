from __future__ import annotations

import contextlib
import struct
import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.toolchain.code_object import PLAIN, OffloadBundleError, read_bundles


def plain(**entries: bytes) -> bytes:
    names = {f"hipv4-amdgcn-amd-amdhsa--{gfx}": data for gfx, data in entries.items()}
    names = {"host-x86_64-unknown-linux-gnu-": b"", **names}
    table = len(PLAIN) + 8 + sum(24 + len(name) for name in names)
    head, body = PLAIN + struct.pack("<Q", len(names)), b""
    for name, data in names.items():
        head += struct.pack("<QQQ", table + len(body), len(data), len(name)) + name.encode()
        body += data
    return head + body


def packed(data: bytes, version: int, method: int) -> bytes:
    body = zlib.compress(data) if method == 0 else zstandard.compress(data)
    layout = {1: "<IQ", 2: "<IIQ", 3: "<QQQ"}[version]
    total = 8 + struct.calcsize(layout) + len(body)
    sizes = (len(data),) if version == 1 else (total, len(data))
    return b"CCOB" + struct.pack("<HH", version, method) + struct.pack(layout, *sizes, 0) + body


def targets(data: bytes) -> list[tuple[str, bytes]]:
    return [(entry.target, entry.data) for entry in read_bundles(data) if entry.target]


@pytest.mark.parametrize(
    "data",
    [
        PLAIN,
        PLAIN + struct.pack("<Q", 10**9),
        PLAIN + struct.pack("<QQQQ", 1, 10**12, 5, 0),
        b"CCOB",
        b"CCOB" + struct.pack("<HHQQQ", 9, 1, 100, 100, 0),
        b"CCOB" + struct.pack("<HHQQQ", 3, 7, 100, 100, 0),
        b"CCOB" + struct.pack("<HHQQQ", 3, 1, 100, 2**60, 0),
        b"CCOB" + struct.pack("<HHQQQ", 3, 1, 100, 100, 0) + b"no zstd stream",
    ],
)
def test_corrupt_bundles_are_refused(data):
    with pytest.raises(OffloadBundleError):
        list(read_bundles(data))


def test_bytes_without_a_bundle():
    assert targets(b"nothing here") == []


def test_entries_of_several_bundles_with_padding_between():
    data = b"\0" * 7 + plain(gfx942=b"one", gfx1100=b"two") + b"\0" * 4096 + plain(gfx942=b"three")

    assert targets(data) == [("gfx942", b"one"), ("gfx1100", b"two"), ("gfx942", b"three")]


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("method", [0, 1], ids=["zlib", "zstd"])
def test_every_compressed_version(version, method):
    data = packed(plain(**{"gfx90a:xnack+": b"x" * 1000}), version, method)

    assert targets(data) == [("gfx90a:xnack+", b"x" * 1000)]


def test_concatenated_compressed_bundles():
    data = packed(plain(gfx942=b"a"), 2, 1) + b"\0" * 100 + packed(plain(gfx950=b"b"), 3, 0)

    assert targets(data) == [("gfx942", b"a"), ("gfx950", b"b")]


@given(st.binary(max_size=200))
def test_any_bytes_raise_the_right_error(data):
    for start in (PLAIN, b"CCOB", b""):
        with contextlib.suppress(OffloadBundleError):
            assert all(isinstance(entry.data, bytes) for entry in read_bundles(start + data))
