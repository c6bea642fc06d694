"""Parallel scan in a process pool that survives a crash of the parser."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from rocm3d.scan.file_scan import FileResult, scan_file, unread_file
from rocm3d.scan.rules import rules_by_unit
from rocm3d.workspace.interrupts import blocked_interrupts

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.scan.selection import Selection

# Starting a pool takes longer than scanning fewer files than this.
MIN_FILES_FOR_POOL = 150
BATCH_SIZE = 24

Job = tuple[str, bytes]


def scan_files(
    jobs: Iterable[Job], knowledge: Knowledge, selection: Selection, workers: int | None = None
) -> Iterator[tuple[str, FileResult]]:
    """Scan all files. Results come in any order; jobs are read lazily, so memory stays bounded."""
    processes, remaining = workers or _usable_cores(), iter(jobs)
    first = list(islice(remaining, MIN_FILES_FOR_POOL))
    if len(first) < MIN_FILES_FOR_POOL or processes < 2:
        for path, data in chain(first, remaining):
            yield path, scan_file(path, data, knowledge, selection)
        return
    yield from _scan_in_pool(chain(first, remaining), knowledge, selection, processes)


def _usable_cores() -> int:
    """Cores that this process may use; a container or a job often has fewer than the machine."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _scan_in_pool(
    jobs: Iterator[Job], knowledge: Knowledge, selection: Selection, processes: int
) -> Iterator[tuple[str, FileResult]]:
    """Scan in a pool, with at most two batches per process in flight."""
    from concurrent.futures.process import BrokenProcessPool

    # Load rules and models before the fork, and freeze them so that no worker's garbage collector scans them.
    rules_by_unit(knowledge, selection)
    knowledge.recipe_for("")
    scan_file("a.py", b"", knowledge, selection).model_dump_json()
    gc.freeze()
    with _pool(processes, knowledge, selection) as pool:
        waiting: deque[tuple[list[Job], Future[list[str]]]] = deque()
        broken: list[list[Job]] = []
        while True:
            while len(waiting) < 2 * processes and (batch := list(islice(jobs, BATCH_SIZE))):
                try:
                    waiting.append((batch, _submit(pool, batch)))
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
        yield from _rescan(batch, knowledge, selection)


def _rescan(batch: list[Job], knowledge: Knowledge, selection: Selection) -> Iterator[tuple[str, FileResult]]:
    """Scan a lost batch again in its own process, and bisect it until only the crashing file is skipped."""
    from concurrent.futures.process import BrokenProcessPool

    try:
        with _pool(1, knowledge, selection) as pool:
            yield from _results(batch, _submit(pool, batch))
    except BrokenProcessPool:
        if len(batch) == 1:
            yield batch[0][0], unread_file(batch[0][0], "crashed the parser")
        else:
            middle = len(batch) // 2
            yield from _rescan(batch[:middle], knowledge, selection)
            yield from _rescan(batch[middle:], knowledge, selection)


@contextlib.contextmanager
def _pool(processes: int, *worker_arguments: Any) -> Iterator[ProcessPoolExecutor]:
    """A pool that forks where that is safe: a spawned worker would load all rules again. An error ends the workers."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    fork = sys.platform == "linux" and threading.active_count() == 1
    context = get_context("fork") if fork else None
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_initialize_worker, initargs=worker_arguments)
    try:
        yield pool
    except BaseException:
        # Else the end of a pool waits for the files that are being parsed.
        for worker in tuple((getattr(pool, "_processes", None) or {}).values()):
            worker.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _submit(pool: ProcessPoolExecutor, batch: list[Job]) -> Future[list[str]]:
    """The first call starts the workers. Ctrl-C reaches the whole process group, but must end this process alone."""
    with blocked_interrupts():
        return pool.submit(_scan_batch, batch)


def _results(batch: list[Job], future: Future[list[str]]) -> Iterator[tuple[str, FileResult]]:
    for (path, _), text in zip(batch, future.result(), strict=True):
        yield path, FileResult.model_validate_json(text)


_worker_state: tuple[Knowledge, Selection] | None = None


def _initialize_worker(knowledge: Knowledge, selection: Selection) -> None:
    global _worker_state  # noqa: PLW0603  (set once when a worker process starts)
    _worker_state = (knowledge, selection)


def _scan_batch(batch: list[Job]) -> list[str]:
    """Scan a batch. Results are JSON because pydantic reads and writes it faster than pickle."""
    assert _worker_state is not None
    return [scan_file(path, data, *_worker_state).model_dump_json() for path, data in batch]
