"""The journal of a run: a small SQLite file that other terminals read and leave wishes in.

It is a copy of what the status files say, for speed and for those who look: where it is damaged it is kept aside and
made anew. In WAL mode readers never wait for the runner, and what is committed outlives the death of any process.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.jobs.course import Course
from rocm3d.jobs.folder import NoSpace
from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_COLUMNS = [field.name for field in fields(Course)]
_TABLES = f"""
CREATE TABLE IF NOT EXISTS jobs ({_COLUMNS[0]} TEXT PRIMARY KEY, {", ".join(_COLUMNS[1:])}) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS wishes (number INTEGER PRIMARY KEY, job TEXT NOT NULL, wish TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_PUT = f"INSERT OR REPLACE INTO jobs VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608  (question marks only)
_row = attrgetter(*_COLUMNS)
_SIDE_FILES = ("", "-wal", "-shm")


class Journal:
    """One open journal."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._base = sqlite3.connect(path, timeout=20, isolation_level=None)
        self._seen = -1
        try:
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.executescript(_TABLES)
        except BaseException:
            self._base.close()
            raise

    def close(self) -> None:
        """Done with it."""
        self._base.close()

    def courses(self) -> dict[str, Course]:
        """Every job that it knows, after a look whether the file is sound."""
        ((said,),) = self._base.execute("PRAGMA quick_check(1)").fetchall()
        if said != "ok":
            raise sqlite3.DatabaseError(said)
        rows = self._base.execute(f"SELECT {', '.join(_COLUMNS)} FROM jobs")  # noqa: S608  (our own names)
        return {row[0]: _course(row) for row in rows}

    def write(self, courses: Iterable[Course], facts: dict[str, str] | None = None) -> None:
        """All of it, or nothing."""
        with self._full():
            self._base.execute("BEGIN IMMEDIATE")
            try:
                self._base.executemany(_PUT, map(_row, courses))
                for item in (facts or {}).items():
                    self._base.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", item)
                self._base.execute("COMMIT")
            except BaseException:
                self._base.rollback()
                raise

    def forget(self, jobs: Iterable[str]) -> None:
        """Jobs that are not in jobs.toml any more."""
        self._base.executemany("DELETE FROM jobs WHERE id = ?", [(job,) for job in jobs])

    def facts(self) -> dict[str, str]:
        """What the last runner wrote about itself."""
        return dict(self._base.execute("SELECT name, value FROM facts"))

    def wish(self, wish: str, jobs: Iterable[str]) -> None:
        """Something that the runner is to do, now or the next time."""
        with self._full():
            self._base.executemany("INSERT INTO wishes (job, wish) VALUES (?, ?)", [(job, wish) for job in jobs])

    def wishes(self) -> list[tuple[str, str]]:
        """What others have asked for since the last look: (job, wish)."""
        ((version,),) = self._base.execute("PRAGMA data_version").fetchall()
        if version == self._seen:
            return []
        self._seen = version
        found = self._base.execute("SELECT number, job, wish FROM wishes ORDER BY number").fetchall()
        if found:
            self._base.execute("DELETE FROM wishes WHERE number <= ?", (found[-1][0],))
        return [(job, wish) for _, job, wish in found]

    @contextmanager
    def _full(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "full" in str(error):
                raise NoSpace(str(self.path.parent)) from error
            raise


def opened(path: Path) -> tuple[Journal, dict[str, Course], str]:
    """The journal and what it knows. One that is damaged is kept aside, and the text says where."""
    journal = None
    try:
        journal = Journal(path)
        return journal, journal.courses(), ""
    except sqlite3.DatabaseError as error:
        if journal is not None:
            journal.close()
        if isinstance(error, sqlite3.OperationalError) and "disk" in str(error):
            raise NoSpace(str(path.parent)) from error
        if isinstance(error, sqlite3.OperationalError) and ("locked" in str(error) or "unable" in str(error)):
            raise UserError(f"{path} cannot be opened: {error}") from error
        aside = _set_aside(path)
        journal = Journal(path)
        return journal, {}, f"the journal was damaged ({error}); it is kept as {aside.name} and made anew"


def _set_aside(path: Path) -> Path:
    stamp = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}"
    number = 0
    while (aside := path.with_name(f"{path.name}.damaged-{stamp}{f'-{number}' if number else ''}")).exists():
        number += 1
    for suffix in _SIDE_FILES:
        beside = Path(f"{path}{suffix}")
        if beside.exists():
            beside.rename(f"{aside}{suffix}")
    return aside


def _course(row: tuple[object, ...]) -> Course:
    course = Course(*row)  # type: ignore[arg-type]
    sound = all(isinstance(getattr(course, name), int) for name in ("attempts", "closed", "failures", "interruptions"))
    if not sound or not isinstance(course.state, str):
        raise sqlite3.DatabaseError(f"the row of {course.id!r} makes no sense")
    return course
