"""A cache of results in the user's cache folder: safe for parallel use; every error counts as a cache miss."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rocm3d.model.errors import Rocm3dError
from rocm3d.workspace.state import cache_folder

LIMIT_BYTES = 256 * 1024 * 1024
_LOCK_TIMEOUT_SECONDS = 5.0
_BATCH = 500  # keys of one query; older versions of SQLite accept 999


@dataclass(frozen=True)
class ResultCache:
    """Values by key in one SQLite file. Every error counts as a cache miss."""

    path: Path

    @classmethod
    def open(cls, name: str) -> ResultCache | None:
        """The cache with this name; None if the user's cache folder is not usable."""
        try:
            return cls(cache_folder() / f"{name}.sqlite")
        except Rocm3dError:
            return None

    def get(self, keys: list[str]) -> dict[str, str]:
        """The cached values among these keys."""
        values: dict[str, str] = {}
        with contextlib.suppress(sqlite3.Error), self._connection() as connection:
            for start in range(0, len(keys), _BATCH):
                batch = keys[start : start + _BATCH]
                marks = ",".join("?" * len(batch))
                # Only question marks are inserted into the statement.
                values |= dict(connection.execute(f"SELECT key, value FROM results WHERE key IN ({marks})", batch))  # noqa: S608
        return values

    def put(self, values: Mapping[str, str]) -> None:
        """Store values. A cache that exceeds the size limit is cleared first."""
        with contextlib.suppress(OSError):
            if self.path.is_file() and self.path.stat().st_size > LIMIT_BYTES:
                self.path.unlink()
        try:
            with self._connection() as connection:
                connection.executemany("INSERT OR REPLACE INTO results VALUES (?, ?)", values.items())
        except sqlite3.OperationalError:
            return  # locked for too long, or the disk is full: existing entries stay valid
        except sqlite3.DatabaseError:
            # Corrupt, for example after a crash. It is only a cache, so delete it.
            with contextlib.suppress(OSError):
                self.path.unlink()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=_LOCK_TIMEOUT_SECONDS)
        try:
            connection.execute("CREATE TABLE IF NOT EXISTS results (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
            with connection:
                yield connection
        finally:
            connection.close()
