from __future__ import annotations

import pytest

from rocm3d.apply.undo import changed_since, undo
from rocm3d.model.errors import UserError
from rocm3d.workspace.journal import UndoJournal
from rocm3d.workspace.writer import Writer


@pytest.fixture
def applied(tmp_path, snapshot):
    """A tree after a port: one file edited, two added in new folders; and what it was before."""
    (tmp_path / "x.cu").write_bytes(b"old \xff\r\n")
    (tmp_path / "x.cu").chmod(0o755)
    before = snapshot(tmp_path)
    writer = Writer(tmp_path, UndoJournal.open(tmp_path))
    writer.write({"x.cu": b"new\n"})
    writer.write({"rocm-port/a.txt": b"a\n"})
    writer.write({"rocm-port/deep/b.txt": b"b\n"})
    return tmp_path, before


def undo_again(root):
    journal = UndoJournal.open(root)
    return journal, Writer(root, journal)


def test_refuses_when_a_file_was_changed_since(applied, snapshot):
    root, _ = applied
    (root / "x.cu").write_bytes(b"mine\n")
    now = snapshot(root)
    with pytest.raises(UserError, match=r"x\.cu"):
        undo(*undo_again(root), keep_changed=False)
    assert snapshot(root) == now
    assert changed_since(UndoJournal.open(root)) == ["x.cu"]


def test_refuses_when_an_edited_file_was_removed_since(applied):
    root, _ = applied
    (root / "x.cu").unlink()
    with pytest.raises(UserError):
        undo(*undo_again(root), keep_changed=False)


def test_refuses_when_an_added_file_was_changed_since(applied):
    root, _ = applied
    (root / "rocm-port/a.txt").write_bytes(b"mine\n")
    with pytest.raises(UserError):
        undo(*undo_again(root), keep_changed=False)


def test_a_file_that_became_a_symlink_is_changed_and_not_followed(applied, tmp_path_factory):
    root, _ = applied
    outside = tmp_path_factory.mktemp("outside") / "x.cu"
    outside.write_bytes(b"new\n")
    (root / "x.cu").unlink()
    (root / "x.cu").symlink_to(outside)
    undone = undo(*undo_again(root), keep_changed=True)
    assert undone.left_changed == ("x.cu",)
    assert outside.read_bytes() == b"new\n"


def test_changed_files_stay_and_all_others_are_restored(applied):
    root, _ = applied
    (root / "x.cu").write_bytes(b"mine\n")
    undone = undo(*undo_again(root), keep_changed=True)
    assert undone.left_changed == ("x.cu",)
    assert set(undone.restored) == {"rocm-port/a.txt", "rocm-port/deep/b.txt"}
    assert (root / "x.cu").read_bytes() == b"mine\n"
    assert not (root / "rocm-port").exists()


def test_a_folder_with_somebody_elses_file_stays(applied):
    root, _ = applied
    (root / "rocm-port/mine.txt").write_bytes(b"mine\n")
    undo(*undo_again(root), keep_changed=False)
    assert [path.name for path in (root / "rocm-port").iterdir()] == ["mine.txt"]


def test_a_folder_that_existed_before_stays(tmp_path):
    (tmp_path / "rocm-port").mkdir()
    _, writer = undo_again(tmp_path)
    writer.write({"rocm-port/a.txt": b"a\n"})
    undo(*undo_again(tmp_path), keep_changed=False)
    assert list((tmp_path / "rocm-port").iterdir()) == []


def test_undo_is_byte_for_byte(applied, snapshot):
    root, before = applied
    undone = undo(*undo_again(root), keep_changed=False)
    assert snapshot(root) == before
    assert undone.left_changed == ()
    assert not (root / "rocm-port").exists()
    assert UndoJournal.open(root).entries == {}


def test_undo_restores_the_tree_before_the_first_apply(applied, snapshot):
    root, before = applied
    _, writer = undo_again(root)
    writer.write({"x.cu": b"newer\n"})
    undo(*undo_again(root), keep_changed=False)
    assert snapshot(root) == before


def test_a_deleted_added_file_is_not_a_change(applied, snapshot):
    root, before = applied
    (root / "rocm-port/a.txt").unlink()
    undo(*undo_again(root), keep_changed=False)
    assert snapshot(root) == before


def test_undo_of_nothing_does_nothing(tmp_path):
    assert undo(*undo_again(tmp_path), keep_changed=False).restored == ()
    assert list(tmp_path.iterdir()) == []
