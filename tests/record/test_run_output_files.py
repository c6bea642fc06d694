from __future__ import annotations

import hashlib
import os

from rocm3d.record import run
from rocm3d.record.run import FolderState, seal_files


def test_tree_with_too_many_files_is_not_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "MAX_FILES", 2)
    for number in range(3):
        (tmp_path / f"{number}").write_text("")
    folders = FolderState((tmp_path,), tmp_path / "ours")
    (tmp_path / "new").write_text("")

    assert folders.too_many
    assert folders.changed() == []


def test_a_program_that_writes_too_many_is_not_compared_either(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "MAX_FILES", 2)
    folders = FolderState((tmp_path,), tmp_path / "ours")
    for number in range(3):
        (tmp_path / f"{number}").write_text("")

    assert folders.changed() == []
    assert folders.too_many


def test_file_deleted_during_the_scan_is_skipped(tmp_path, monkeypatch):
    (tmp_path / "gone").write_text("")
    (tmp_path / "stays").write_text("")
    monkeypatch.setattr(run.os, "walk", lambda _: [(str(tmp_path), [], ["gone", "stays"])])
    (tmp_path / "gone").unlink()

    assert [path.name for path in FolderState((tmp_path,), tmp_path / "ours").before] == ["stays"]


def test_new_and_changed_files_are_found_and_others_not(tmp_path):
    for name in ("same", "changed", "touched"):
        (tmp_path / name).write_text("1")
    (tmp_path / "ours").mkdir()
    folders = FolderState((tmp_path,), tmp_path / "ours")
    (tmp_path / "changed").write_text("22")
    os.utime(tmp_path / "touched", ns=(1, 1))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "new.ply").write_text("3")
    (tmp_path / "ours" / "run.json").write_text("4")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.pyc").write_text("5")
    (tmp_path / "link").symlink_to(tmp_path / "same")

    assert [path.name for path in folders.changed()] == ["changed", "new.ply", "touched"]


def test_a_file_is_sealed_with_its_digest_and_named_from_the_folder(tmp_path):
    (tmp_path / "a").write_bytes(b"x")

    ((inside,), _), ((outside,), _) = (
        seal_files([tmp_path / "a"], tmp_path),
        seal_files([tmp_path / "a"], tmp_path / "b"),
    )
    assert (inside.path, outside.path) == ("a", str(tmp_path / "a"))
    assert inside.sha256 == hashlib.sha256(b"x").hexdigest()


def test_file_that_cannot_be_read_is_reported_as_missing(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    sealed_files, unreadable = seal_files([tmp_path / "gone", tmp_path / "a"], tmp_path)

    assert [file.path for file in sealed_files] == ["a"]
    assert [(file.link, file.reason) for file in unreadable] == [("gone", "No such file or directory")]
