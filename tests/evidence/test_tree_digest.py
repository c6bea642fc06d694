from __future__ import annotations

import os

import pytest

from rocm3d.evidence.tree_digest import tree_digest


@pytest.fixture
def root(tmp_path):
    for name in ("a.cu", "b.py", "requirements.txt", "notes.md", "rocm-port/install.txt", ".rocm3d/plan.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize("name", ["a.cu", "b.py", "requirements.txt", "rocm-port/install.txt"])
def test_a_change_of_what_is_checked_changes_it(root, name):
    before = tree_digest(root, "rocm-port")
    (root / name).write_text("changed")

    assert tree_digest(root, "rocm-port") != before


@pytest.mark.parametrize("name", ["c.hpp", "sub/setup.py", "pyproject.toml", "rocm-port/any.bin"])
def test_a_new_file_changes_it(root, name):
    before = tree_digest(root, "rocm-port")
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("")

    assert tree_digest(root, "rocm-port") != before


@pytest.mark.parametrize("name", ["notes.md", ".rocm3d/plan.json", "out/scene.ply", ".venv/lib/x.py", "written.py"])
def test_other_files_do_not_change_it(root, name):
    before = tree_digest(root, "rocm-port", {"written.py"})
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text("changed")

    assert tree_digest(root, "rocm-port", {"written.py"}) == before


def test_a_run_cannot_hide_a_change_of_the_port(root):
    before = tree_digest(root, "rocm-port", {"rocm-port/install.txt"})
    (root / "rocm-port" / "install.txt").write_text("changed")

    assert tree_digest(root, "rocm-port", {"rocm-port/install.txt"}) != before


def test_a_change_of_a_source_above_the_limit_of_the_tree_counts(root):
    (root / "large.cu").write_bytes(b"x" * 5_000_000)
    before = tree_digest(root, "rocm-port")
    (root / "large.cu").write_bytes(b"x" * 4_999_999 + b"y")

    assert tree_digest(root, "rocm-port") != before


def test_two_folders_with_the_same_files_have_the_same_digest(root, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    for path in root.rglob("*"):
        if path.is_file():
            (other / path.relative_to(root)).parent.mkdir(exist_ok=True)
            (other / path.relative_to(root)).write_bytes(path.read_bytes())

    assert tree_digest(root, "rocm-port") == tree_digest(other, "rocm-port")


def test_a_file_of_any_size_is_not_read(tmp_path):
    with (tmp_path / "a.cu").open("wb") as stream:
        stream.truncate(1 << 40)  # 1 TiB that needs no disk: reading it would take an hour
    before = tree_digest(tmp_path, "rocm-port")
    os.utime(tmp_path / "a.cu", ns=(1, 1))

    assert before != tree_digest(tmp_path, "rocm-port")
