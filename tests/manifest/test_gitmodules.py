from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.gitmodules import read, reader

TEXT = """# [submodule "commented"]
[submodule "submodules/knn"]
\tpath = submodules/simple-knn
\turl = https://host/o/simple-knn.git
  [submodule "glm"]
    url = "git@host:g/glm.git"
[core]
    path = elsewhere
[submodule "bare"]
"""


def submodule_positions(data: bytes):
    return [(entry.path, entry.url, entry.line, entry.column) for entry in read(".gitmodules", data).submodules]


def test_submodule_positions():
    assert submodule_positions(TEXT.encode()) == [
        ("submodules/simple-knn", "https://host/o/simple-knn.git", 2, 1),
        ("glm", "git@host:g/glm.git", 5, 3),
        ("bare", "", 9, 1),
    ]


@pytest.mark.parametrize("path", ["gitmodules", ".gitmodules.bak", ".gitignore"])
def test_is_not_gitmodules(path):
    assert not reader.matches(path)


def test_is_gitmodules_in_any_folder():
    assert reader.matches("a/.gitmodules")


def test_windows_line_ends_and_odd_bytes():
    assert submodule_positions(b'# \xff\r\n[submodule "a"]\r\n\tpath = b\r\n') == [("b", "", 2, 1)]


@given(st.binary(max_size=300))
def test_random_bytes_do_not_raise(data):
    lines = data.decode("utf-8", "replace").split("\n")
    assert all(1 <= entry.line <= len(lines) for entry in read(".gitmodules", data).submodules)


WORDS = st.text("abc/-_.", min_size=1, max_size=8)


@given(st.lists(st.tuples(WORDS, WORDS), max_size=6))
def test_round_trip(pairs):
    text = "".join(f'[submodule "{path}"]\n\tpath = {path}\n\turl = https://{url}\n' for path, url in pairs)
    assert [(path, url) for path, url, _, _ in submodule_positions(text.encode())] == [
        (p, f"https://{u}") for p, u in pairs
    ]
