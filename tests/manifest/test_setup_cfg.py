from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.setup_cfg import read, reader

TEXT = """[metadata]
name = torch
install_requires = not-here

[options]
# torch
install_requires =
    torch>=2  # why
    # gsplat
    numpy ; python_version > "3"

    xformers[x]==1
setup_requires = ninja
packages = find:
[options.extras_require]
gpu =
    flash-attn
dev = pytest
[flake8]
ignore =
    torch
"""


def mention_positions(data: bytes):
    result = read("setup.cfg", data).mentions
    return [(entry.name, entry.version, entry.line, entry.column, entry.section) for entry in result]


def test_requirement_positions():
    assert mention_positions(TEXT.encode()) == [
        ("torch", ">=2", 8, 5, "install_requires"),
        ("numpy", "", 10, 5, "install_requires"),
        ("xformers", "==1", 12, 5, "install_requires"),
        ("ninja", "", 13, 18, "setup_requires"),
        ("flash-attn", "", 17, 5, "extras_require"),
        ("pytest", "", 18, 7, "extras_require"),
    ]


def test_files_are_includes():
    (option,) = read("setup.cfg", b"[options]\ninstall_requires = file: a.txt, b.txt\n").options
    assert (option.includes, option.line, option.column) == (("a.txt", "b.txt"), 2, 20)


@pytest.mark.parametrize("path", ["setup.py", "a.cfg", "setup.cfg.in"])
def test_is_not_setup_cfg(path):
    assert not reader.matches(path)


def test_windows_line_ends_and_odd_bytes():
    assert mention_positions(b"# \xff\r\n[options]\r\ninstall_requires =\r\n  torch\r\n") == [
        ("torch", "", 4, 3, "install_requires")
    ]


@given(st.binary(max_size=300))
def test_random_bytes_do_not_raise(data):
    result = read("setup.cfg", b"[options]\ninstall_requires =\n " + data).mentions
    assert all(entry.line >= 3 and entry.column >= 1 for entry in result)


@given(st.lists(st.sampled_from(["torch", "gsplat>=1", "# x", "", "numpy"]), max_size=8), st.integers(1, 6))
def test_round_trip(rows, indent):
    text = "[options]\ninstall_requires =\n" + "".join(f"{' ' * indent}{row}\n" for row in rows)
    expected = [(n + 3, indent + 1) for n, row in enumerate(rows) if row and row[0] != "#"]
    assert [(line, column) for _, _, line, column, _ in mention_positions(text.encode())] == expected
