"""The journal can be read at any time; a damaged one is renamed and rebuilt."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from rocm3d.jobs.course import Course
from rocm3d.jobs.folder import NoSpace
from rocm3d.jobs.journal import Journal, opened
from rocm3d.model.failure import ExitCode, UserError

COURSE = Course("a", "d", "done", attempts=2, closed=2, interruptions=1, code=0)


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "journal.sqlite"
    with closing(Journal(path)) as journal:
        journal.write([COURSE], {"slots": "[]"})
    return path


@pytest.mark.parametrize("damage", [b"garbage" * 3000, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_damaged_journal_is_kept_aside(place, damage):
    place.write_bytes(damage)
    journal, known, said = opened(place)
    with closing(journal):
        assert known == {}
        assert journal.courses() == {}
    (aside,) = place.parent.glob("journal.sqlite.damaged-*")
    assert aside.read_bytes() == damage
    assert aside.name in said


def test_two_damaged_journals_of_one_second_are_both_kept(place):
    for content in (b"a" * 2000, b"b" * 2000):
        place.write_bytes(content)
        opened(place)[0].close()
    kept = {path.read_bytes()[:1] for path in place.parent.glob("journal.sqlite.damaged-*")}
    assert kept == {b"a", b"b"}


def test_a_row_that_makes_no_sense_is_damage(place):
    with closing(sqlite3.connect(place)) as base:
        base.execute("UPDATE jobs SET attempts = 'many'")
        base.commit()
    journal, known, said = opened(place)
    journal.close()
    assert known == {}
    assert "is invalid" in said


def test_a_journal_that_cannot_be_opened_is_told(tmp_path):
    with pytest.raises(UserError, match="cannot be opened"):
        opened(tmp_path / "nowhere" / "journal.sqlite")


def test_a_full_disk_is_what_the_machine_lacks(place):
    journal = Journal(place)
    ((pages,),) = journal._base.execute("PRAGMA page_count").fetchall()
    journal._base.execute(f"PRAGMA max_page_count = {pages}")
    with closing(journal), pytest.raises(NoSpace, match="no space left on the disk of") as failure:
        journal.write([Course(f"job-{number}", "d" * 900) for number in range(200)])
    assert failure.value.exit_code == ExitCode.MACHINE
    journal, known, _ = opened(place)
    journal.close()
    assert known == {"a": COURSE}


def test_what_was_written_is_read_again(place):
    journal, known, said = opened(place)
    with closing(journal):
        assert (known, said, journal.facts()) == ({"a": COURSE}, "", {"slots": "[]"})
        journal.forget(["a"])
        assert journal.courses() == {}


def test_wishes_of_others_are_heard_once_and_in_order(place):
    journal, other = Journal(place), Journal(place)
    with closing(journal), closing(other):
        assert journal.wishes() == []
        other.wish("cancel", ["a", "b"])
        other.wish("retry", ["a"])
        assert journal.wishes() == [("a", "cancel"), ("b", "cancel"), ("a", "retry")]
        assert journal.wishes() == []
