"""Scratch files and folders exist while they are used, and are removed afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.workspace.process import guarded_scratch_folder, scratch_file, scratch_folder


def test_file_is_gone_even_after_an_error():
    paths: list[Path] = []

    def fail() -> None:
        with scratch_file("a.txt", b"x") as path:
            paths.append(path)
            path.with_name("missing").read_bytes()

    with pytest.raises(FileNotFoundError):
        fail()
    assert not paths[0].parent.exists()


def test_file_has_the_name_and_the_bytes_and_a_folder_of_its_own():
    with scratch_file("requirements.txt", b"a\r\n\xff") as path, scratch_file("requirements.txt", b"") as other:
        assert path.name == "requirements.txt"
        assert path.read_bytes() == b"a\r\n\xff"
        assert [entry.name for entry in path.parent.iterdir()] == ["requirements.txt"]
        assert other.parent != path.parent
    assert not path.parent.exists()
    assert not other.parent.exists()


def test_a_folder_is_gone_with_all_that_is_in_it():
    with scratch_folder() as folder:
        (folder / "a").mkdir()
        (folder / "a" / "b").write_bytes(b"x")
    assert not folder.exists()


def test_guarded_folder_is_removed_after_an_error():
    folders: list[Path] = []

    def fail() -> None:
        with guarded_scratch_folder() as folder:
            folders.append(folder)
            (folder / "a").write_bytes(b"x")
            assert folder.stat().st_mode & 0o077 == 0
            (folder / "missing").read_bytes()

    with pytest.raises(FileNotFoundError):
        fail()
    assert not folders[0].exists()
