"""Cache of scan results of single files, by content: after a change, only changed files are scanned again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rocm3d.scan.file_scan import FileResult
from rocm3d.scan.scan_cache import digest

if TYPE_CHECKING:
    from rocm3d.scan.pool import Job
    from rocm3d.workspace.result_cache import ResultCache

_BATCH = 256


@dataclass
class FileCache:
    """`cached` are results from the cache; `uncached` yields the remaining jobs. `key_prefix`: see scan_cache."""

    cache: ResultCache
    key_prefix: str
    cached: dict[str, FileResult] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)

    def uncached(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Jobs without a cache entry, read lazily."""
        remaining = iter(jobs)
        while batch := list(islice(remaining, _BATCH)):
            keys = {path: digest(f"{self.key_prefix} {path}\n".encode() + data) for path, data in batch}
            entries = self.cache.get(list(keys.values()))
            for path, data in batch:
                result = _restored(entries.get(keys[path]))
                if result is None:
                    self.keys[path] = keys[path]
                    yield path, data
                else:
                    self.cached[path] = result

    def store(self, results: Iterable[tuple[str, FileResult]]) -> Iterator[tuple[str, FileResult]]:
        """Store each new result in the cache, then yield it."""
        remaining = iter(results)
        while batch := list(islice(remaining, _BATCH)):
            self.cache.put({self.keys.pop(path): result.model_dump_json() for path, result in batch})
            yield from batch


def _restored(text: str | None) -> FileResult | None:
    """The cached result; None if missing or invalid, because other programs can write to the cache."""
    try:
        return None if text is None else FileResult.model_validate_json(text)
    except ValidationError:
        return None
