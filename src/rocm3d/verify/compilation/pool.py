"""Many compiles at once, one for each core; a result that is known by content is not made again."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from rocm3d.workspace.process import end_all

if TYPE_CHECKING:
    from rocm3d.model.compilation import Side
    from rocm3d.verify.compilation.compile_side import Done
    from rocm3d.verify.compilation.content_cache import ContentCache

K = TypeVar("K")

_PAUSE = 0.1


@dataclass(frozen=True)
class Job:
    """`key` stands for all that decides besides the content of the files it reads."""

    key: str
    make: Callable[[], Done]


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0))


def compile_all(jobs: dict[K, Job], cache: ContentCache, told: Callable[[K, Side], None]) -> dict[K, Side]:
    """Results by the same keys. Interrupted, it ends what runs and leaves."""
    with ThreadPoolExecutor(cores()) as pool:
        running = {name: pool.submit(_one, job, cache) for name, job in jobs.items()}
        results = {}
        try:
            for name, future in running.items():
                results[name] = future.result()
                told(name, results[name])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while wait(running.values(), timeout=_PAUSE).not_done:
                end_all()  # again and again: a job may have been about to start its program
            raise
    return results


def _one(job: Job, cache: ContentCache) -> Side:
    known = cache.find(job.key)
    if known is not None:
        return known
    done = job.make()
    if done.result.outcome != "timed_out":
        cache.keep(job.key, done.files, done.result)
    return done.result
