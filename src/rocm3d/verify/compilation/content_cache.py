"""Compiles units in parallel. Results are cached by the content of all files read, the flags and the toolchain."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from rocm3d import __version__
from rocm3d.model.verdict import CachedCompileResult, CachedCompileResults
from rocm3d.toolchain.compiler import read_output
from rocm3d.workspace.process import kill_all
from rocm3d.workspace.state import PORT_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm3d.model.verdict import CompileResult
    from rocm3d.verify.compilation.compile_side import CacheableResult
    from rocm3d.workspace.result_cache import ResultCache

_MAX_RESULTS = 4  # results per key, for headers that change back and forth
_PACKAGE = Path(__file__).parents[2]
# Modules that find and call compilers and parse their output. own_headers has a separate digest.
_PARTS = (
    "toolchain", "verify/compilation", "payload/hipify_sources.py", "payload/read_build.py", "model/verdict.py",
)  # fmt: skip
K = TypeVar("K")

_POLL_SECONDS = 0.1


@dataclass
class ContentCache:
    """`tree`: the copy that is compiled. Files in `roots` are not hashed: every key contains their digest.

    `shows`: whether a compiler can have read a path outside the tree. Others that it lists are ignored: a compiler that
    runs code of a repository may list anything.
    """

    store: ResultCache | None
    tree: Path
    roots: tuple[Path, ...]
    shows: Callable[[Path], bool] = lambda _: True
    _digests: dict[Path, str] = field(default_factory=dict)

    def key(self, *parts: str) -> str:
        """A digest of everything that influences a result except file contents."""
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()

    def names_digest(self) -> str:
        """A digest of all file names: a new file can shadow a header. The port's folder is never included."""
        paths = (path.relative_to(self.tree) for path in self.tree.rglob("*") if path.is_file())
        return self.key(*sorted(path.as_posix() for path in paths if path.parts[0] != PORT_FOLDER))

    def find(self, key: str) -> CompileResult | None:
        """A cached result of which no file has changed; None if there is none."""
        for entry in self._entries(key):
            if all(self._digest(name) == digest for name, digest in entry.files.items()):
                return entry.result
        return None

    def put(self, key: str, files: Iterable[Path], result: CompileResult) -> None:
        """Stores a result. `files`: those that the compiler read."""
        if self.store is None:
            return
        others = (path for path in files if path.is_relative_to(self.tree) or self.shows(path))
        names = {self._name(path): path for path in others if not any(path.is_relative_to(root) for root in self.roots)}
        entry = CachedCompileResult(files={name: self._digest(name) for name in sorted(names)}, result=result)
        older = [item for item in self._entries(key) if item.files != entry.files]
        self.store.put({key: CachedCompileResults(results=(entry, *older[: _MAX_RESULTS - 1])).model_dump_json()})

    def _entries(self, key: str) -> Sequence[CachedCompileResult]:
        text = {} if self.store is None else self.store.get([key])
        try:
            return CachedCompileResults.model_validate_json(text[key]).results if key in text else ()
        except ValidationError:
            return ()  # written by another version

    def _name(self, path: Path) -> str:
        """Relative for files of the repository, because each copy has another path."""
        return path.relative_to(self.tree).as_posix() if path.is_relative_to(self.tree) else str(path)

    def _digest(self, name: str) -> str:
        path = self.tree / name
        if path not in self._digests:
            try:
                is_regular = stat.S_ISREG(path.stat().st_mode)
                self._digests[path] = hashlib.sha256(path.read_bytes()).hexdigest() if is_regular else "gone"
            except OSError:
                self._digests[path] = "gone"
        return self._digests[path]


def read_dependencies(file: Path, cwd: Path) -> list[Path]:
    """The files in a compiler's dependency file (a make rule); empty if there is no such file."""
    data = read_output(file)
    if data is None:
        return []
    text = data.decode("utf-8", "replace")
    words = text.replace("\\\n", " ").partition(":")[2].replace("\\ ", "\0").split()
    return [path for word in words if (path := _resolved(cwd / word.replace("\0", " "))) is not None]


def _resolved(path: Path) -> Path | None:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # a loop of links
        return None


@cache
def program_digest(package: Path = _PACKAGE) -> str:
    """Of our code by paths and contents: another copy of the same version shares results, an upgrade does not."""
    hasher = hashlib.sha256(__version__.encode())
    for part in _PARTS:
        root = package / part
        for path in sorted(root.rglob("*.py")) if root.is_dir() else [root]:
            hasher.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return hasher.hexdigest()


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
    if result.is_final and result.result.outcome not in ("timed_out", "cut_off") and not cancelled.is_set():
        cache.put(job.key, result.files, result.result)
    return result.result
