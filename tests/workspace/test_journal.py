"""The journal stores the oldest original of every path, and detects damage."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from rocm3d.model.errors import UserError
from rocm3d.workspace.journal import FileWrite, UndoJournal, digest

HEX = "0" * 64


def journal_with_original(root: Path, content: bytes) -> Path:
    return root / ".rocm3d" / "undo" / digest(content)


def damage(root: Path, text: str | bytes) -> None:
    folder = root / ".rocm3d" / "undo"
    folder.mkdir(parents=True)
    (folder / "journal.json").write_bytes(text.encode() if isinstance(text, str) else text)


def with_entry(**entry: object) -> str:
    return json.dumps({"entries": {"a.py": entry}})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"entries": []}',
        '{"entries": {"a.py": null}}',
        '{"entries": {"a.py": {"before": null}}}',
        with_entry(before=None, after=HEX, folders=[], mode=3),
        with_entry(before=5, after=HEX, folders=[]),
        with_entry(before=HEX, after=None, folders=[]),
        with_entry(before=HEX, after=HEX, folders=None),
        with_entry(before="", after=HEX, folders=[]),
        b"\xff\xfe",
        pytest.param("[" * 100_000, id="deep"),
    ],
)
def test_damaged_journal_is_refused(tmp_path, text):
    damage(tmp_path, text)
    with pytest.raises(UserError, match=r"journal\.json is damaged") as failure:
        UndoJournal.open(tmp_path)
    assert "git" in failure.value.hint


@pytest.mark.parametrize("file_path", ["../../../victim", "{absolute}"])
def test_forged_journal_deletes_no_foreign_file(tmp_path, file_path):
    """A hostile repository can contain a journal; deleting it must not delete the files it names."""
    root, victim = tmp_path / "repo", tmp_path / "victim"
    victim.write_bytes(b"precious")
    root.mkdir()
    damage(root, with_entry(before=file_path.format(absolute=victim), after=HEX, folders=[]))
    with contextlib.suppress(UserError):
        UndoJournal.open(root).delete()
    assert victim.read_bytes() == b"precious"


@pytest.mark.parametrize("name", ["journal.json.new", f"{digest(b'old')}.new"])
def test_link_in_the_place_of_a_temporary_file_is_not_followed(tmp_path, name):
    """A hostile repository can contain such a link."""
    root, victim = tmp_path / "repo", tmp_path / "victim"
    victim.write_bytes(b"precious")
    (root / ".rocm3d" / "undo").mkdir(parents=True)
    (root / ".rocm3d" / "undo" / name).symlink_to(victim)
    with contextlib.suppress(UserError):
        UndoJournal.open(root).record([FileWrite("a.py", b"old", b"new")])
    assert victim.read_bytes() == b"precious"


def test_changed_original_is_refused(tmp_path):
    journal = UndoJournal.open(tmp_path)
    journal.record([FileWrite("a.py", b"old", b"new")])
    journal_with_original(tmp_path, b"old").write_bytes(b"other")
    with pytest.raises(UserError, match=r"original of a\.py is damaged"):
        UndoJournal.open(tmp_path).original("a.py")


def test_lost_original_is_refused(tmp_path):
    journal = UndoJournal.open(tmp_path)
    journal.record([FileWrite("a.py", b"old", b"new")])
    journal_with_original(tmp_path, b"old").unlink()
    with pytest.raises(UserError, match=r"original of a\.py"):
        UndoJournal.open(tmp_path).original("a.py")


def test_tree_without_a_journal_has_an_empty_one_and_no_folder(tmp_path):
    assert UndoJournal.open(tmp_path).entries == {}
    assert list(tmp_path.iterdir()) == []


def test_record_is_on_disk_before_anything_else_happens(tmp_path):
    UndoJournal.open(tmp_path).record([FileWrite("a.py", b"old", b"new", ("made",))])
    entry = UndoJournal.open(tmp_path).entries["a.py"]
    assert (entry.before, entry.after, entry.folders) == (digest(b"old"), digest(b"new"), ["made"])
    assert journal_with_original(tmp_path, b"old").read_bytes() == b"old"


def test_oldest_original_is_retained_over_two_changes(tmp_path):
    UndoJournal.open(tmp_path).record([FileWrite("a.py", b"old", b"first", ("made",))])
    UndoJournal.open(tmp_path).record([FileWrite("a.py", b"first", b"second")])
    journal = UndoJournal.open(tmp_path)
    assert journal.original("a.py") == b"old"
    assert journal.entries["a.py"].after == digest(b"second")
    assert journal.entries["a.py"].folders == ["made"]


def test_new_file_has_no_original(tmp_path):
    journal = UndoJournal.open(tmp_path)
    journal.record([FileWrite("a.py", None, b"new")])
    journal.record([FileWrite("b.py", b"", b"new")])
    assert journal.original("a.py") is None
    assert journal.original("b.py") == b""


def test_new_file_has_no_original_after_two_changes(tmp_path):
    journal = UndoJournal.open(tmp_path)
    journal.record([FileWrite("a.py", None, b"first")])
    journal.record([FileWrite("a.py", b"first", b"second")])
    assert UndoJournal.open(tmp_path).original("a.py") is None


def test_two_paths_with_the_same_original_both_have_it(tmp_path):
    journal = UndoJournal.open(tmp_path)
    journal.record([FileWrite("a.py", b"old", b"new")])
    journal.record([FileWrite("b.py", b"old", b"newer")])
    assert [UndoJournal.open(tmp_path).original(path) for path in ("a.py", "b.py")] == [b"old", b"old"]


def test_deleted_journal_leaves_no_undo_folder(tmp_path):
    journal = UndoJournal.open(tmp_path)
    journal.record([FileWrite("a.py", b"old", b"new")])
    journal.record([FileWrite("b.py", b"old", b"new")])
    journal.record([FileWrite("c.py", None, b"new")])
    journal.delete()
    assert journal.entries == {}
    assert UndoJournal.open(tmp_path).entries == {}
    assert not (tmp_path / ".rocm3d" / "undo").exists()


def test_empty_journal_can_be_deleted(tmp_path):
    UndoJournal.open(tmp_path).delete()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["journal.json.new", digest(b"kept, but the journal was never saved")])
def test_leftover_of_a_crash_does_not_prevent_deletion(tmp_path, name):
    journal = UndoJournal.open(tmp_path)
    journal.record([FileWrite("a.py", b"old", b"new")])
    (journal.folder / name).write_bytes(b"left")
    journal.delete()
    assert UndoJournal.open(tmp_path).entries == {}


def test_digest_is_sha256():
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def forged(root: Path, entries: dict[str, object], seal: object = "0" * 64) -> None:
    damage(root, json.dumps({"entries": entries, "seal": seal}))


@pytest.mark.parametrize("seal", ["0" * 64, "", None, 5, [], "\ud800"])
def test_journal_that_somebody_else_wrote_is_refused(tmp_path, seal):
    forged(tmp_path, {"a.py": {"before": HEX, "after": HEX, "folders": []}}, seal)

    with pytest.raises(UserError, match="was not written by you on this machine") as failure:
        UndoJournal.open(tmp_path)
    assert "--into" in failure.value.hint
    assert "a.py" in UndoJournal.open(tmp_path, trust=True).entries


def test_changed_journal_is_refused(tmp_path):
    UndoJournal.open(tmp_path).record([FileWrite("a.py", b"old", b"new")])
    path = tmp_path / ".rocm3d" / "undo" / "journal.json"
    path.write_text(path.read_text().replace("a.py", "b.py"))

    with pytest.raises(UserError, match="was changed"):
        UndoJournal.open(tmp_path)


def test_moved_tree_keeps_its_journal(tmp_path):
    (tmp_path / "first").mkdir()
    UndoJournal.open(tmp_path / "first").record([FileWrite("a.py", b"old", b"new")])
    (tmp_path / "first").rename(tmp_path / "second")

    assert UndoJournal.open(tmp_path / "second").original("a.py") == b"old"


NOT_IN_THE_TREE = [
    ".git/config", ".GIT/config", ".git./config", ".git /config", "git~1/config", "sub/.git/hooks/x",
    ".gi\u200ct/config", "../x", "a/../../x", "/etc/passwd", "", ".", ".rocm3d/undo/journal.json", "a\0b",
]  # fmt: skip


@pytest.mark.parametrize("name", NOT_IN_THE_TREE)
@pytest.mark.parametrize("where", ["path", "folder"])
def test_path_into_git_or_out_of_the_tree_is_refused_even_in_a_trusted_journal(tmp_path, name, where):
    entry = {"before": HEX, "after": HEX, "folders": [name] if where == "folder" else []}
    forged(tmp_path, {"a.py" if where == "folder" else name: entry})

    with pytest.raises(UserError, match="refusing to use"):
        UndoJournal.open(tmp_path, trust=True)


@pytest.mark.parametrize("kind", ["journal", "original"])
def test_link_is_not_followed(tmp_path, kind):
    journal = UndoJournal.open(tmp_path)
    journal.record([FileWrite("a.py", b"old", b"new")])
    file = journal.folder / ("journal.json" if kind == "journal" else digest(b"old"))
    outside = tmp_path / "outside"
    outside.write_bytes(file.read_bytes())
    file.unlink()
    file.symlink_to(outside)

    with pytest.raises(UserError):
        UndoJournal.open(tmp_path).original("a.py")


def test_originals_stay_when_the_journal_is_retired(tmp_path):
    journal = UndoJournal.open(tmp_path)
    journal.record([FileWrite("a.py", b"old", b"new")])
    retired = journal.retire()

    assert UndoJournal.open(tmp_path).entries == {}
    assert (retired / digest(b"old")).read_bytes() == b"old"
