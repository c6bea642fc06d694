"""A cache of results by content, in the user's cache folder: safe under parallel use, and never needed."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rocm3d.model.failure import Failure
from rocm3d.workspace.state import cache_folder

LIMIT_BYTES = 256 * 1024 * 1024
_SECONDS_TO_WAIT = 5.0


@dataclass(frozen=True)
class ResultCache:
    """Values by key in one SQLite file. Whatever goes wrong with it, the answer is "not cached"."""

    place: Path

    @classmethod
    def open(cls, name: str) -> ResultCache | None:
        """The cache of that name; None where the user's cache folder cannot be had."""
        try:
            return cls(cache_folder() / f"{name}.sqlite")
        except Failure:
            return None

    def get(self, keys: list[str]) -> dict[str, str]:
        """Those values that are there."""
        found: dict[str, str] = {}
        with contextlib.suppress(sqlite3.Error), self._connection() as connection:
            for key in keys:
                row = connection.execute("SELECT value FROM results WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = row[0]
        return found

    def put(self, values: Mapping[str, str]) -> None:
        """Keep values; a cache that has grown too large starts anew."""
        with contextlib.suppress(OSError):
            if self.place.is_file() and self.place.stat().st_size > LIMIT_BYTES:
                self.place.unlink()
        try:
            with self._connection() as connection:
                connection.executemany("INSERT OR REPLACE INTO results VALUES (?, ?)", values.items())
        except sqlite3.OperationalError:
            return  # somebody else has been writing for too long, or the disk is full: what is there stays of use
        except sqlite3.DatabaseError:
            # Not a database any more: half-written by a crash, or somebody's file. It is ours to throw away.
            with contextlib.suppress(OSError):
                self.place.unlink()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.place, timeout=_SECONDS_TO_WAIT)
        try:
            connection.execute("CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
            with connection:
                yield connection
        finally:
            connection.close()
