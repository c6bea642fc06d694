"""Compiles units in parallel, one for each core. Cached results are not compiled again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from rocm3d.workspace.process import kill_all

if TYPE_CHECKING:
    from rocm3d.model.compilation import CompileResult
    from rocm3d.verify.compilation.compile_side import Done
    from rocm3d.verify.compilation.content_cache import ContentCache

K = TypeVar("K")

_PAUSE = 0.1


@dataclass(frozen=True)
class Job:
    """`key`: cache key, covers everything that influences the result except file contents."""

    key: str
    make: Callable[[], Done]


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def compile_all(jobs: dict[K, Job], cache: ContentCache, told: Callable[[K, CompileResult], None]) -> dict[K, CompileResult]:
    """Results by the keys of `jobs`. If interrupted, ends the running compilers and raises."""
    given_up = Event()
    with ThreadPoolExecutor(cores()) as pool:
        running = {name: pool.submit(_one, job, cache, given_up) for name, job in jobs.items()}
        results = {}
        try:
            for name, future in running.items():
                results[name] = future.result()
                told(name, results[name])
        except BaseException:
            given_up.set()  # first: output of a compiler that we end must not be cached
            pool.shutdown(wait=False, cancel_futures=True)
            # Not wait(): it never returns for a future that was cancelled before it started.
            while not all(future.done() for future in running.values()):
                kill_all()  # repeatedly: a job may have been about to start its compiler
                time.sleep(_PAUSE)
            raise
    return results


def _one(job: Job, cache: ContentCache, given_up: Event) -> CompileResult:
    known = cache.find(job.key)
    if known is not None:
        return known
    done = job.make()
    if done.is_final and done.result.outcome != "timed_out" and not given_up.is_set():
        cache.keep(job.key, done.files, done.result)
    return done.result
