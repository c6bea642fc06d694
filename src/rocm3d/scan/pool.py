"""Many files at once: a pool of processes, and what to do when a file brings one down."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import TYPE_CHECKING

from rocm3d.model.inventory import Skipped
from rocm3d.scan.file import FileResult, look_at

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.scan.selection import Selection

# Fewer files than this are done before a pool has started.
SMALL = 150
BATCH = 24

Job = tuple[str, bytes]


def look_at_all(
    jobs: Iterable[Job], count: int, knowledge: Knowledge, selection: Selection, workers: int | None = None
) -> Iterator[tuple[str, FileResult]]:
    """Every file's result, in any order of batches. `count` says how many jobs there will be."""
    processes = workers or os.cpu_count() or 1
    if count < SMALL or processes < 2:
        for path, data in jobs:
            yield path, look_at(path, data, knowledge, selection)
        return
    yield from _pooled(iter(jobs), knowledge, selection, processes)


def _pooled(
    jobs: Iterator[Job], knowledge: Knowledge, selection: Selection, processes: int
) -> Iterator[tuple[str, FileResult]]:
    """A window of batches is under way at a time, so that memory stays bounded."""
    with ProcessPoolExecutor(processes, initializer=_begin, initargs=(knowledge, selection)) as pool:
        waiting: deque[tuple[list[Job], Future[list[FileResult]]]] = deque()
        broken: list[list[Job]] = []
        while True:
            while len(waiting) < 2 * processes and (batch := list(islice(jobs, BATCH))):
                try:
                    waiting.append((batch, pool.submit(_work, batch)))
                except BrokenProcessPool:
                    broken.append(batch)
            if not waiting:
                break
            batch, future = waiting.popleft()
            try:
                yield from zip((path for path, _ in batch), future.result(), strict=True)
            except BrokenProcessPool:
                broken.append(batch)
    for batch in broken:
        yield from _again(batch, knowledge, selection)


def _again(batch: list[Job], knowledge: Knowledge, selection: Selection) -> Iterator[tuple[str, FileResult]]:
    """A batch that was lost, in a process of its own; halved until only the culprit is left out."""
    try:
        with ProcessPoolExecutor(1, initializer=_begin, initargs=(knowledge, selection)) as pool:
            yield from zip((path for path, _ in batch), pool.submit(_work, batch).result(), strict=True)
    except BrokenProcessPool:
        if len(batch) == 1:
            yield batch[0][0], FileResult(skipped=(Skipped(path=batch[0][0], reason="brought the parser down"),))
        else:
            middle = len(batch) // 2
            yield from _again(batch[:middle], knowledge, selection)
            yield from _again(batch[middle:], knowledge, selection)


_given: tuple[Knowledge, Selection] | None = None


def _begin(knowledge: Knowledge, selection: Selection) -> None:
    global _given  # noqa: PLW0603  (a worker process has this one state, set once at its start)
    _given = (knowledge, selection)


def _work(batch: list[Job]) -> list[FileResult]:
    assert _given is not None
    return [look_at(path, data, *_given) for path, data in batch]
