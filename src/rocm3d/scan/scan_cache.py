"""The scan cache: documents by the content of a repository, and results of single files by their content.

A key covers everything that a result depends on: paths and contents of the files that are read, the rules, the
knowledge base and the program itself. So an entry never becomes stale. Loads no model and no rule: a scan of an
unchanged tree needs neither.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm3d import __version__
from rocm3d.knowledge.record_files import data_folder, scan_fingerprint
from rocm3d.workspace.documents import DOCUMENT_FILES, Documents
from rocm3d.workspace.state import COPY_RECORD, DEPENDENCY_LIST, PORT_FOLDER, STATE_FOLDER
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from rocm3d.scan.file_scan import FileResult
    from rocm3d.scan.pool import Job
    from rocm3d.workspace.result_cache import ResultCache

_BATCH = 256
_MAX_ENTRY_SIZE = 32 * 1024 * 1024
_PACKAGES = ("manifest", "model", "scan", "syntax")

ReadFile = Callable[[str], "bytes | None"]


def key_prefix(fingerprint: str, only: Sequence[str], skip: Sequence[str]) -> str:
    """The part of a cache key that does not depend on files; `fingerprint` identifies the knowledge base."""
    return f"{_program_digest()} {fingerprint} {tuple(only)} {tuple(skip)}"


def document_prefix(
    fingerprint: str, only: Sequence[str], skip: Sequence[str], settings: object = None, *, isolated: bool = False
) -> str:
    """The same part of the key of a document, which also depends on what the repository hides."""
    return f"{key_prefix(fingerprint, only, skip)} {settings!r} {isolated}"


@cache
def _program_digest() -> str:
    """Digest of names, sizes and times of the modules that affect a scan: a checkout changes without a new version."""
    root, hasher = Path(__file__).parents[1], hashlib.sha256(__version__.encode())
    for package in _PACKAGES:
        for folder, _, names in sorted(os.walk(root / package)):
            for name in sorted(name for name in names if name.endswith(".py")):
                status = os.stat(f"{folder}/{name}")  # noqa: PTH116  (hundreds of files: Path would take longer)
                hasher.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return hasher.hexdigest()


@dataclass(frozen=True)
class CachedScan:
    """A scan document as JSON, whether it has errors or warnings, and digests of other files that it depends on."""

    text: str
    serious: bool
    also: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ScanCache:
    """Cached scans of one tree. `progress` is called with each path before it is read."""

    cache: ResultCache
    tree: Tree
    key_prefix: str
    progress: Callable[[str], None] = lambda _: None

    def find(self) -> CachedScan | None:
        """The cached scan of the current content, if there is one."""
        scanned_paths = self._value(self._paths_key())
        is_valid = isinstance(scanned_paths, list) and all(
            isinstance(path, str) and path in self.tree for path in scanned_paths
        )
        return self.get(self.key(scanned_paths)) if is_valid else None

    def key(self, scanned_paths: Iterable[str]) -> str:
        """The cache key: contents of the scanned files, names and sizes of all files."""
        hasher = hashlib.sha256(f"{self.key_prefix} {self.tree.name!r}\n".encode())
        for path in scanned_paths:
            self.progress(path)
            hasher.update(f"{path!r} {digest(self.tree.read(path))}\n".encode())
        for path in self.tree.paths():
            hasher.update(f"{path!r} {self.tree.size(path)}\n".encode())
        hasher.update(repr(self.tree.skip_reasons).encode())
        return hasher.hexdigest()

    def get(self, key: str) -> CachedScan | None:
        """The cache entry, unless one of the other files that it depends on has changed."""
        value = self._value(key)
        try:
            entry = CachedScan(str(value["text"]), bool(value["serious"]), dict(value["also"]))
        except (TypeError, KeyError, ValueError):
            return None
        is_current = all(
            path in self.tree and digest(self.tree.read(path)) == known for path, known in entry.also.items()
        )
        return entry if is_current else None

    def put(self, key: str, scanned_paths: Sequence[str], entry: CachedScan) -> None:
        """Store an entry, unless it is so large that a few of its size would fill the cache."""
        if len(entry.text) > _MAX_ENTRY_SIZE:
            return
        value = {"text": entry.text, "serious": entry.serious, "also": entry.also}
        self.cache.put({self._paths_key(): json.dumps(list(scanned_paths)), key: json.dumps(value)})

    def _paths_key(self) -> str:
        """The key of the list of scanned files, which depends on the paths alone."""
        return hashlib.sha256(f"{_program_digest()} {self.tree.paths()!r}".encode()).hexdigest()

    def _value(self, key: str) -> Any:
        """The JSON value of a key; None if missing or invalid, because other programs can write to the cache."""
        try:
            return json.loads(self.cache.get([key]).get(key, "null"))
        except (ValueError, RecursionError):
            return None


@dataclass
class DigestingReader:
    """Reads files and records their digests."""

    read: ReadFile
    digests: dict[str, str] = field(default_factory=dict)

    def __call__(self, path: str) -> bytes | None:
        data = self.read(path)
        self.digests[path] = digest(data)
        return data


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
                result = _restored_file(entries.get(keys[path]))
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


def _restored_file(text: str | None) -> FileResult | None:
    """The cached result; None if missing or invalid, because other programs can write to the cache."""
    from pydantic import ValidationError

    from rocm3d.scan.file_scan import FileResult

    try:
        return None if text is None else FileResult.model_validate_json(text)
    except ValidationError:
        return None


def digest(data: bytes | None) -> str:
    """SHA-256 of the bytes of a file; empty if the file cannot be read."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def cached_scan(
    path: Path, work: Path | None, only: Sequence[str], skip: Sequence[str], *, isolated: bool = False
) -> CachedScan | None:
    """The cache entry for this tree, these rules and the shipped knowledge; also writes its document.

    None if there is no entry, or if a real scan is required: the repository has a port folder or settings that count,
    is a copy for a port, or its dependencies were fetched.
    """
    from rocm3d.workspace.result_cache import ResultCache

    tree, cache = Tree.open(path), ResultCache.open("scan")
    if cache is None or (tree.root / PORT_FOLDER).is_dir() or (_has_settings(tree) and not isolated):
        return None
    if any((tree.root / STATE_FOLDER / name).exists() for name in (COPY_RECORD, DEPENDENCY_LIST)):
        return None
    prefix = document_prefix(scan_fingerprint([data_folder()]), only, skip, isolated=isolated)
    entry = ScanCache(cache, tree, prefix).find()
    if entry is not None:
        Documents.of(tree.root, work).write_own(DOCUMENT_FILES["Scan"][0], entry.text.encode("utf-8"))
    return entry


def _has_settings(tree: Tree) -> bool:
    return tree.peek("rocm3d.toml") is not None or b"rocm3d" in (tree.peek("pyproject.toml") or b"")
