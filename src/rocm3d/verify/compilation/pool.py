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
    from rocm3d.model.verdict import CompileResult
    from rocm3d.verify.compilation.compile_side import CacheableResult
    from rocm3d.verify.compilation.content_cache import ContentCache

K = TypeVar("K")

_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class CompileJob:
    """`key`: cache key, covers everything that influences the result except file contents."""

    key: str
    run: Callable[[], CacheableResult]


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def compile_all(
    jobs: dict[K, CompileJob], cache: ContentCache, on_result: Callable[[K, CompileResult], None]
) -> dict[K, CompileResult]:
    """Results by the keys of `jobs`. If interrupted, ends the running compilers and raises."""
    cancelled = Event()
    with ThreadPoolExecutor(cores()) as pool:
        running = {name: pool.submit(_run_job, job, cache, cancelled) for name, job in jobs.items()}
        results = {}
        try:
            for name, future in running.items():
                results[name] = future.result()
                on_result(name, results[name])
        except BaseException:
            cancelled.set()  # first: output of a compiler that we end must not be cached
            pool.shutdown(wait=False, cancel_futures=True)
            # Not wait(): it never returns for a future that was cancelled before it started.
            while not all(future.done() for future in running.values()):
                kill_all()  # repeatedly: a job may have been about to start its compiler
                time.sleep(_POLL_SECONDS)
            raise
    return results


def _run_job(job: CompileJob, cache: ContentCache, cancelled: Event) -> CompileResult:
    cached = cache.find(job.key)
    if cached is not None:
        return cached
    result = job.run()
    if result.is_final and result.result.outcome != "timed_out" and not cancelled.is_set():
        cache.put(job.key, result.files, result.result)
    return result.result
