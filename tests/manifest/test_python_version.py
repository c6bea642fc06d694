from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.python_version import read, reader


def specifiers(text: str) -> list[tuple[str, int, int]]:
    return [(item.specifier, item.line, item.column) for item in read(".python-version", text.encode()).pythons]


@pytest.mark.parametrize("text", ["", "\n", "pypy3.9-7.3", "system", "2.7.18", "my-env-3.10", "3", "3.10-dev"])
def test_no_release_of_cpython_3(text):
    assert specifiers(text) == []


@pytest.mark.parametrize("text", ["3.11", "3.11.4", "cpython-3.11.4", "CPython3.11", "3.11/envs/name"])
def test_the_minor_version_counts(text):
    assert [item[0] for item in specifiers(text)] == ["==3.11.*"]


def test_one_version_on_each_line():
    assert specifiers("# pyenv\n  3.10.2\n3.12\n") == [("==3.10.*", 2, 3), ("==3.12.*", 3, 1)]


def test_only_the_file_of_this_name():
    assert reader.matches("a/.python-version")
    assert not reader.matches("python-version")


@given(st.binary(max_size=60))
def test_any_bytes_are_read(data):
    assert all(item.line >= 1 for item in read(".python-version", data).pythons)
