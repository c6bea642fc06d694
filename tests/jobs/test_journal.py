"""The journal can be read at any time; a damaged one is renamed and rebuilt."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from rocm3d.jobs.folder import DiskFullError
from rocm3d.jobs.job_progress import JobProgress
from rocm3d.jobs.journal import JobJournal, open_journal
from rocm3d.model.errors import ExitCode, UserError

PROGRESS = JobProgress("a", "d", "done", attempts=2, closed=2, interruptions=1, code=0)


@pytest.fixture
def journal_path(tmp_path):
    path = tmp_path / "journal.sqlite"
    with closing(JobJournal(path)) as journal:
        journal.write([PROGRESS], {"slots": "[]"})
    return path


@pytest.mark.parametrize("damage", [b"garbage" * 3000, b"SQLite format 3\0" + b"\xff" * 4096])
def test_damaged_journal_is_renamed(journal_path, damage):
    journal_path.write_bytes(damage)
    journal, known, note = open_journal(journal_path)
    with closing(journal):
        assert known == {}
        assert journal.progress() == {}
    (renamed,) = journal_path.parent.glob("journal.sqlite.damaged-*")
    assert renamed.read_bytes() == damage
    assert renamed.name in note


def test_damage_that_sqlite_quotes_in_its_message_is_renamed(journal_path):
    journal_path.write_bytes(journal_path.read_bytes().replace(b"CREATE TABLE wishes", b"CREATE TA\xffLE wishes"))
    journal, known, _ = open_journal(journal_path)
    with closing(journal):
        assert known == {}
    assert list(journal_path.parent.glob("journal.sqlite.damaged-*"))


def test_two_damaged_journals_of_one_second_get_different_names(journal_path):
    for content in (b"a" * 2000, b"b" * 2000):
        journal_path.write_bytes(content)
        open_journal(journal_path)[0].close()
    contents = {path.read_bytes()[:1] for path in journal_path.parent.glob("journal.sqlite.damaged-*")}
    assert contents == {b"a", b"b"}


def test_invalid_row_counts_as_damage(journal_path):
    with closing(sqlite3.connect(journal_path)) as base:
        base.execute("UPDATE jobs SET attempts = 'many'")
        base.commit()
    journal, known, note = open_journal(journal_path)
    journal.close()
    assert known == {}
    assert "is invalid" in note


def test_journal_that_cannot_be_opened_is_a_user_error(tmp_path):
    with pytest.raises(UserError, match="cannot be opened"):
        open_journal(tmp_path / "nowhere" / "journal.sqlite")


def test_full_disk_is_a_machine_error(journal_path):
    journal = JobJournal(journal_path)
    ((pages,),) = journal._database.execute("PRAGMA page_count").fetchall()
    journal._database.execute(f"PRAGMA max_page_count = {pages}")
    with closing(journal), pytest.raises(DiskFullError, match="no space left on the disk of") as failure:
        journal.write([JobProgress(f"job-{number}", "d" * 900) for number in range(200)])
    assert failure.value.exit_code == ExitCode.MACHINE
    journal, known, _ = open_journal(journal_path)
    journal.close()
    assert known == {"a": PROGRESS}


def test_written_progress_is_read_back(journal_path):
    journal, known, note = open_journal(journal_path)
    with closing(journal):
        assert (known, note, journal.facts()) == ({"a": PROGRESS}, "", {"slots": "[]"})
        journal.remove(["a"])
        assert journal.progress() == {}


def test_requests_are_delivered_once_and_in_order(journal_path):
    journal, other = JobJournal(journal_path), JobJournal(journal_path)
    with closing(journal), closing(other):
        assert journal.take_requests() == []
        other.request("cancel", ["a", "b"])
        other.request("retry", ["a"])
        assert journal.take_requests() == [("a", "cancel"), ("b", "cancel"), ("a", "retry")]
        assert journal.take_requests() == []


def test_a_journal_of_an_older_version_is_read_and_extended(tmp_path):
    """Without the columns that were added later."""
    path = tmp_path / "journal.sqlite"
    with closing(JobJournal(path)) as journal:
        journal.write([PROGRESS])
        for name in ("attempt_id", "completions"):
            journal._database.execute(f"ALTER TABLE jobs DROP COLUMN {name}")

    journal, known, note = open_journal(path)
    with closing(journal):
        assert (known, note) == ({"a": PROGRESS}, "")
        changed = replace(PROGRESS, attempt_id="a.2-0f", completions='[[1, "a.1-0e", false]]')
        journal.write([changed])
        assert journal.progress() == {"a": changed}
