from __future__ import annotations

import hashlib
import os

from rocm3d.record import produced
from rocm3d.record.produced import Folders, sealed


def test_a_tree_of_too_many_files_is_not_compared_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(produced, "MOST", 2)
    for number in range(3):
        (tmp_path / f"{number}").write_text("")
    folders = Folders((tmp_path,), tmp_path / "ours")
    (tmp_path / "new").write_text("")

    assert folders.too_many
    assert folders.changed() == []


def test_a_program_that_writes_too_many_is_not_compared_either(tmp_path, monkeypatch):
    monkeypatch.setattr(produced, "MOST", 2)
    folders = Folders((tmp_path,), tmp_path / "ours")
    for number in range(3):
        (tmp_path / f"{number}").write_text("")

    assert folders.changed() == []
    assert folders.too_many


def test_a_file_that_goes_away_meanwhile_is_passed_over(tmp_path, monkeypatch):
    (tmp_path / "gone").write_text("")
    (tmp_path / "stays").write_text("")
    monkeypatch.setattr(produced.os, "walk", lambda _: [(str(tmp_path), [], ["gone", "stays"])])
    (tmp_path / "gone").unlink()

    assert [path.name for path in Folders((tmp_path,), tmp_path / "ours").before] == ["stays"]


def test_new_and_changed_files_are_found_and_others_not(tmp_path):
    for name in ("same", "changed", "touched"):
        (tmp_path / name).write_text("1")
    (tmp_path / "ours").mkdir()
    folders = Folders((tmp_path,), tmp_path / "ours")
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

    ((inside,), _), ((outside,), _) = sealed([tmp_path / "a"], tmp_path), sealed([tmp_path / "a"], tmp_path / "b")
    assert (inside.path, outside.path) == ("a", str(tmp_path / "a"))
    assert inside.sha256 == hashlib.sha256(b"x").hexdigest()


def test_a_file_that_went_away_meanwhile_is_named_and_loses_no_other(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    found, unread = sealed([tmp_path / "gone", tmp_path / "a"], tmp_path)

    assert [item.path for item in found] == ["a"]
    assert [(item.link, item.reason) for item in unread] == [("gone", "No such file or directory")]
