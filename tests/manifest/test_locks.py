from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.locks import read, reader

UV = """version = 1

[[package]]
name = "torch"
version = "2.1.0+cu121"
source = { registry = "https://host/whl/cu121" }
dependencies = [
    { name = "numpy" },
]

[[package]]
name = "gsplat"
version = "1.4.0"
source = { git = "https://host/o/gsplat?rev=1#abc" }

[[package]]
name = "numpy"
version = "1.26"
source = { registry = "https://host/whl/cu121" }
"""
POETRY = """[[package]]
name = "torch"
version = "2.1.0"
description = "name = "

[package.dependencies]
name = "inner"

[package.source]
type = "legacy"
url = "https://host/whl/cu118"

[metadata]
name = "no package"
"""


def locked_packages(text: str):
    return [(entry.name, entry.version, entry.line, entry.url) for entry in read("uv.lock", text.encode()).mentions]


def test_uv():
    assert locked_packages(UV) == [
        ("torch", "==2.1.0+cu121", 4, ""),
        ("gsplat", "==1.4.0", 12, "https://host/o/gsplat?rev=1#abc"),
        ("numpy", "==1.26", 17, ""),
    ]
    assert [(entry.urls, entry.line) for entry in read("uv.lock", UV.encode()).options] == [
        (("https://host/whl/cu121",), 6)
    ]


def test_poetry():
    assert locked_packages(POETRY) == [("torch", "==2.1.0", 2, "")]
    assert [(entry.urls, entry.line) for entry in read("poetry.lock", POETRY.encode()).options] == [
        (("https://host/whl/cu118",), 11)
    ]


@pytest.mark.parametrize("path", ["yarn.lock", "a/uv.lock.txt", "lock"])
def test_is_not_lock(path):
    assert not reader.matches(path)


@pytest.mark.parametrize("path", ["uv.lock", "a/poetry.lock", "pdm.lock"])
def test_is_lock(path):
    assert reader.matches(path)


@given(st.binary(max_size=300))
def test_random_bytes_do_not_raise(data):
    assert all(entry.line >= 1 for entry in read("uv.lock", b"[[package]]\n" + data).mentions)


@given(
    st.lists(st.tuples(st.text("abc-", min_size=1, max_size=5), st.from_regex(r"\d\.\d", fullmatch=True)), max_size=6)
)
def test_round_trip(rows):
    text = "".join(f'[[package]]\nname = "{name}"\nversion = "{version}"\n\n' for name, version in rows)
    assert [(name, version, line) for name, version, line, _ in locked_packages(text)] == [
        (name, f"=={version}", 4 * number + 2) for number, (name, version) in enumerate(rows)
    ]


def test_index_without_url_is_ignored():
    assert () == read("uv.lock", b'[[package]]\nname = "a"\nsource = { registry = "" }\n').options
