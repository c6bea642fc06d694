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

from rocm3d.jobs.folder import DiskFullError
from rocm3d.jobs.job_progress import JobProgress
from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_COLUMNS = [field.name for field in fields(JobProgress)]
_TABLES = f"""
CREATE TABLE IF NOT EXISTS jobs ({_COLUMNS[0]} TEXT PRIMARY KEY, {", ".join(_COLUMNS[1:])}) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS wishes (number INTEGER PRIMARY KEY, job TEXT NOT NULL, wish TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_PUT = f"INSERT OR REPLACE INTO jobs VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608  (question marks only)
_row = attrgetter(*_COLUMNS)
_SIDE_FILES = ("", "-wal", "-shm")


class JobJournal:
    """An open journal; several processes may have it open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database = sqlite3.connect(path, timeout=20, isolation_level=None)
        self._data_version = -1
        try:
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.executescript(_TABLES)
            self._add_missing_columns()
        except BaseException:
            self._database.close()
            raise

    def _add_missing_columns(self) -> None:
        """Columns of a journal that an older version wrote."""
        existing = {row[1] for row in self._database.execute("PRAGMA table_info(jobs)")}
        for field in fields(JobProgress):
            if existing and field.name not in existing:
                default = f"DEFAULT '{field.default}'"
                self._database.execute(f"ALTER TABLE jobs ADD COLUMN {field.name} {default}")

    def close(self) -> None:
        self._database.close()

    def progress(self) -> dict[str, JobProgress]:
        """Progress of every job, by id. Raises sqlite3.DatabaseError if the file is damaged."""
        ((check_result,),) = self._database.execute("PRAGMA quick_check(1)").fetchall()
        if check_result != "ok":
            raise sqlite3.DatabaseError(check_result)
        rows = self._database.execute(f"SELECT {', '.join(_COLUMNS)} FROM jobs")  # noqa: S608  (our own names)
        return {row[0]: _parse_row(row) for row in rows}

    def write(self, progress: Iterable[JobProgress], facts: dict[str, str] | None = None) -> None:
        """Write everything in one transaction. Raises NoSpace if the disk is full."""
        with self._translate_full_disk():
            self._database.execute("BEGIN IMMEDIATE")
            try:
                self._database.executemany(_PUT, map(_row, progress))
                for fact in (facts or {}).items():
                    self._database.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", fact)
                self._database.execute("COMMIT")
            except BaseException:
                self._database.rollback()
                raise

    def remove(self, jobs: Iterable[str]) -> None:
        """Remove jobs that are no longer in jobs.toml."""
        self._database.executemany("DELETE FROM jobs WHERE id = ?", [(job,) for job in jobs])

    def facts(self) -> dict[str, str]:
        """Slots and notes of the last runner, as JSON texts."""
        return dict(self._database.execute("SELECT name, value FROM facts"))

    def request(self, action: str, jobs: Iterable[str]) -> None:
        """Leave a request (`cancel` or `retry`) for the current or next runner."""
        with self._translate_full_disk():
            self._database.executemany("INSERT INTO wishes (job, wish) VALUES (?, ?)", [(job, action) for job in jobs])

    def take_requests(self) -> list[tuple[str, str]]:
        """Requests since the last call, as (job, request), oldest first; they are removed."""
        ((version,),) = self._database.execute("PRAGMA data_version").fetchall()
        if version == self._data_version:
            return []
        self._data_version = version
        rows = self._database.execute("SELECT number, job, wish FROM wishes ORDER BY number").fetchall()
        if rows:
            self._database.execute("DELETE FROM wishes WHERE number <= ?", (rows[-1][0],))
        return [(job, action) for _, job, action in rows]

    @contextmanager
    def _translate_full_disk(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "full" in str(error):
                raise DiskFullError(str(self.path.parent)) from error
            raise


def open_journal(path: Path) -> tuple[JobJournal, dict[str, JobProgress], str]:
    """Open a journal and read it. A damaged one is renamed; the returned text then reports its new name."""
    journal = None
    try:
        journal = JobJournal(path)
        return journal, journal.progress(), ""
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # a message of SQLite may quote damaged bytes
        if journal is not None:
            journal.close()
        if isinstance(error, sqlite3.OperationalError) and "disk" in str(error):
            raise DiskFullError(str(path.parent)) from error
        if isinstance(error, sqlite3.OperationalError) and ("locked" in str(error) or "unable" in str(error)):
            raise UserError(f"{path} cannot be opened: {error}") from error
        renamed = _rename_damaged(path)
        journal = JobJournal(path)
        return journal, {}, f"the journal was damaged ({error}); renamed to {renamed.name} and rebuilt"


def _rename_damaged(path: Path) -> Path:
    stamp = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}"
    number = 0
    while (target := path.with_name(f"{path.name}.damaged-{stamp}{f'-{number}' if number else ''}")).exists():
        number += 1
    for suffix in _SIDE_FILES:
        side_file = Path(f"{path}{suffix}")
        if side_file.exists():
            side_file.rename(f"{target}{suffix}")
    return target


def _parse_row(row: tuple[object, ...]) -> JobProgress:
    progress = JobProgress(*row)  # type: ignore[arg-type]
    is_valid = all(
        isinstance(getattr(progress, name), int) for name in ("attempts", "closed", "failures", "interruptions")
    )
    if not is_valid or not isinstance(progress.state, str):
        raise sqlite3.DatabaseError(f"the row of {progress.id!r} is invalid")
    return progress
