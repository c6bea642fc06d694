from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.gitmodules import is_gitmodules, read

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


def seen(data: bytes):
    return [(item.path, item.url, item.line, item.column) for item in read(".gitmodules", data).submodules]


def test_submodules_stand_at_their_headlines():
    assert seen(TEXT.encode()) == [
        ("submodules/simple-knn", "https://host/o/simple-knn.git", 2, 1),
        ("glm", "git@host:g/glm.git", 5, 3),
        ("bare", "", 9, 1),
    ]


@pytest.mark.parametrize("path", ["gitmodules", ".gitmodules.bak", ".gitignore"])
def test_is_no_list_of_submodules(path):
    assert not is_gitmodules(path)


def test_is_a_list_of_submodules_in_any_folder():
    assert is_gitmodules("a/.gitmodules")


def test_windows_line_ends_and_odd_bytes():
    assert seen(b'# \xff\r\n[submodule "a"]\r\n\tpath = b\r\n') == [("b", "", 2, 1)]


@given(st.binary(max_size=300))
def test_random_bytes_are_survived(data):
    lines = data.decode("utf-8", "replace").split("\n")
    assert all(1 <= item.line <= len(lines) for item in read(".gitmodules", data).submodules)


WORDS = st.text("abc/-_.", min_size=1, max_size=8)


@given(st.lists(st.tuples(WORDS, WORDS), max_size=6))
def test_what_is_written_is_read(pairs):
    text = "".join(f'[submodule "{path}"]\n\tpath = {path}\n\turl = https://{url}\n' for path, url in pairs)
    assert [(path, url) for path, url, _, _ in seen(text.encode())] == [(p, f"https://{u}") for p, u in pairs]
