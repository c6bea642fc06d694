from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.binaries import binary_suffix, is_binary, read, reader
from rocm3d.manifest.manifest import ScriptCommand


@pytest.mark.parametrize("path", ["a.py", "so", "a.so.txt", "whl/a.txt", "a.solid", ".so.x", "a.ptxas", ""])
def test_is_not_binary(path):
    assert not is_binary(path)


@pytest.mark.parametrize(
    ("path", "suffix"),
    [
        ("a/b.whl", ".whl"),
        ("lib/libx.so", ".so"),
        ("lib/libx.so.11.0", ".so"),
        ("A.DLL", ".dll"),
        ("x.cubin", ".cubin"),
        ("x.fatbin", ".fatbin"),
        ("x.ptx", ".ptx"),
        ("x.a", ".a"),
    ],
)
def test_suffix(path, suffix):
    assert binary_suffix(path) == suffix


def test_command_with_suffix_and_path():
    assert read("lib/x.cubin", b"").commands == (ScriptCommand(".cubin", ("lib/x.cubin",), 1, 1),)


def test_content_is_not_read():
    assert reader.by_name


@given(st.text(max_size=40), st.binary(max_size=80))
def test_any_path_and_bytes_do_not_raise(path, data):
    result = read(path, data)

    assert (result.path, len(result.commands), result.data) == (path, 1, b"")
