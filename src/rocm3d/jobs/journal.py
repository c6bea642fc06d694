"""The journal of a run: an SQLite file that other terminals read, and in which they leave cancel and retry requests.

It is a copy of the status files. A damaged journal is renamed and rebuilt from them. In WAL mode readers never wait
for the runner, and committed data survives the death of any process.
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
    """An open journal; several processes may have it open."""

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
        """Close the database."""
        self._base.close()

    def courses(self) -> dict[str, Course]:
        """Progress of every job, by id. Raises sqlite3.DatabaseError if the file is damaged."""
        ((said,),) = self._base.execute("PRAGMA quick_check(1)").fetchall()
        if said != "ok":
            raise sqlite3.DatabaseError(said)
        rows = self._base.execute(f"SELECT {', '.join(_COLUMNS)} FROM jobs")  # noqa: S608  (our own names)
        return {row[0]: _course(row) for row in rows}

    def write(self, courses: Iterable[Course], facts: dict[str, str] | None = None) -> None:
        """Write everything in one transaction. Raises NoSpace if the disk is full."""
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
        """Remove jobs that are no longer in jobs.toml."""
        self._base.executemany("DELETE FROM jobs WHERE id = ?", [(job,) for job in jobs])

    def facts(self) -> dict[str, str]:
        """Slots and notes of the last runner, as JSON texts."""
        return dict(self._base.execute("SELECT name, value FROM facts"))

    def wish(self, wish: str, jobs: Iterable[str]) -> None:
        """Leave a request (`cancel` or `retry`) for the current or next runner."""
        with self._full():
            self._base.executemany("INSERT INTO wishes (job, wish) VALUES (?, ?)", [(job, wish) for job in jobs])

    def wishes(self) -> list[tuple[str, str]]:
        """Requests since the last call, as (job, request), oldest first; they are removed."""
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
    """Open a journal and read it. A damaged one is renamed; the returned text then reports its new name."""
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
        return journal, {}, f"the journal was damaged ({error}); renamed to {aside.name} and rebuilt"


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
        raise sqlite3.DatabaseError(f"the row of {course.id!r} is invalid")
    return course
