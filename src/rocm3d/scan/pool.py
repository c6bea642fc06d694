"""Many files at once: a pool of processes, and what to do when a file brings one down."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from rocm3d.model.inventory import Skipped
from rocm3d.scan.file import FileResult, look_at
from rocm3d.scan.rules import rules

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.scan.selection import Selection

# Fewer files than this are done before a pool has started.
SMALL = 150
BATCH = 24

Job = tuple[str, bytes]


def look_at_all(
    jobs: Iterable[Job], knowledge: Knowledge, selection: Selection, workers: int | None = None
) -> Iterator[tuple[str, FileResult]]:
    """Every file's result, in any order of batches. Jobs are taken as they are needed, so that memory stays bounded."""
    processes, rest = workers or _cores(), iter(jobs)
    first = list(islice(rest, SMALL))
    if len(first) < SMALL or processes < 2:
        for path, data in chain(first, rest):
            yield path, look_at(path, data, knowledge, selection)
        return
    yield from _pooled(chain(first, rest), knowledge, selection, processes)


def _cores() -> int:
    """Those that this process may use: a container or a job often has fewer than the machine."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _pooled(
    jobs: Iterator[Job], knowledge: Knowledge, selection: Selection, processes: int
) -> Iterator[tuple[str, FileResult]]:
    """A window of batches is under way at a time."""
    from concurrent.futures.process import BrokenProcessPool

    # What every worker needs is loaded before they part, models included, and no worker looks through it for garbage.
    rules(knowledge, selection)
    knowledge.recipe_for("")
    look_at("a.py", b"", knowledge, selection).model_dump_json()
    gc.freeze()
    with _pool(processes, knowledge, selection) as pool:
        waiting: deque[tuple[list[Job], Future[list[str]]]] = deque()
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
                yield from _results(batch, future)
            except BrokenProcessPool:
                broken.append(batch)
    for batch in broken:
        yield from _again(batch, knowledge, selection)


def _again(batch: list[Job], knowledge: Knowledge, selection: Selection) -> Iterator[tuple[str, FileResult]]:
    """A batch that was lost, in a process of its own; halved until only the culprit is left out."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        with _pool(1, knowledge, selection) as pool:
            yield from _results(batch, pool.submit(_work, batch))
    except BrokenProcessPool:
        if len(batch) == 1:
            yield batch[0][0], FileResult(skipped=(Skipped(path=batch[0][0], reason="brought the parser down"),))
        else:
            middle = len(batch) // 2
            yield from _again(batch[:middle], knowledge, selection)
            yield from _again(batch[middle:], knowledge, selection)


def _pool(processes: int, *given: Any) -> ProcessPoolExecutor:
    """Forked where that is safe: other ways to start a worker load everything again."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    fork = sys.platform == "linux" and threading.active_count() == 1
    context = get_context("fork") if fork else None
    return ProcessPoolExecutor(processes, mp_context=context, initializer=_begin, initargs=given)


def _results(batch: list[Job], future: Future[list[str]]) -> Iterator[tuple[str, FileResult]]:
    for (path, _), text in zip(batch, future.result(), strict=True):
        yield path, FileResult.model_validate_json(text)


_given: tuple[Knowledge, Selection] | None = None


def _begin(knowledge: Knowledge, selection: Selection) -> None:
    global _given  # noqa: PLW0603  (a worker process has this one state, set once at its start)
    _given = (knowledge, selection)


def _work(batch: list[Job]) -> list[str]:
    """Results as JSON, which pydantic writes and reads faster than pickle does."""
    assert _given is not None
    return [look_at(path, data, *_given).model_dump_json() for path, data in batch]
