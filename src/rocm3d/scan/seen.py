"""Results of single files that were looked at before, by content: after a change, only what changed is looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rocm3d.scan.file import FileResult
from rocm3d.scan.remembered import digest

if TYPE_CHECKING:
    from rocm3d.scan.pool import Job
    from rocm3d.workspace.result_cache import ResultCache

_BATCH = 256


@dataclass
class Seen:
    """`found` are results that were there; `new` gives the other jobs, to be looked at. `basis`: see remembered."""

    cache: ResultCache
    basis: str
    found: dict[str, FileResult] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)

    def new(self, jobs: Iterable[Job]) -> Iterator[Job]:
        """Jobs that were not seen before, as they are needed."""
        rest = iter(jobs)
        while batch := list(islice(rest, _BATCH)):
            keys = {path: digest(f"{self.basis} {path}\n".encode() + data) for path, data in batch}
            known = self.cache.get(list(keys.values()))
            for path, data in batch:
                result = _restored(known.get(keys[path]))
                if result is None:
                    self.keys[path] = keys[path]
                    yield path, data
                else:
                    self.found[path] = result

    def kept(self, fresh: Iterable[tuple[str, FileResult]]) -> Iterator[tuple[str, FileResult]]:
        """The results of the new ones, each kept for the next time before it is given on."""
        rest = iter(fresh)
        while batch := list(islice(rest, _BATCH)):
            self.cache.put({self.keys.pop(path): result.model_dump_json() for path, result in batch})
            yield from batch


def _restored(text: str | None) -> FileResult | None:
    """None where nothing was kept, or nothing that the model takes: anybody may have written to the cache."""
    try:
        return None if text is None else FileResult.model_validate_json(text)
    except ValidationError:
        return None
