"""Cache of scan documents by repository content. Loads no model and no rule.

A key covers everything that a result depends on: paths and contents of the files that are read, the rules, the
knowledge base and the program itself. So an entry never becomes stale.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm3d import __version__

if TYPE_CHECKING:
    from rocm3d.workspace.result_cache import ResultCache
    from rocm3d.workspace.tree import Tree

_LARGEST = 32 * 1024 * 1024
_ROOMS = ("manifest", "model", "scan", "syntax")

Reads = Callable[[str], "bytes | None"]


def basis(fingerprint: str, only: Sequence[str], skip: Sequence[str]) -> str:
    """The part of a cache key that does not depend on files; `fingerprint` identifies the knowledge base."""
    return f"{_program()} {fingerprint} {tuple(only)} {tuple(skip)}"


@cache
def _program() -> str:
    """Digest of names, sizes and times of the modules that affect a scan: a checkout changes without a new version."""
    root, known = Path(__file__).parents[1], hashlib.sha256(__version__.encode())
    for room in _ROOMS:
        for folder, _, names in sorted(os.walk(root / room)):
            for name in sorted(name for name in names if name.endswith(".py")):
                status = os.stat(f"{folder}/{name}")  # noqa: PTH116  (hundreds of files: Path would take longer)
                known.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return known.hexdigest()


@dataclass(frozen=True)
class Kept:
    """A scan document as JSON, whether it has errors or warnings, and digests of other files that it depends on."""

    text: str
    serious: bool
    also: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Remembered:
    """Cached scans of one tree. `progress` is called with each path before it is read."""

    cache: ResultCache
    tree: Tree
    basis: str
    progress: Callable[[str], None] = lambda _: None

    def find(self) -> Kept | None:
        """The cached scan of the current content, if there is one."""
        wanted = self._value(self._names_key())
        sound = isinstance(wanted, list) and all(isinstance(path, str) and path in self.tree for path in wanted)
        return self.get(self.key(wanted)) if sound else None

    def key(self, wanted: Iterable[str]) -> str:
        """The cache key: contents of the scanned files, names and sizes of all files."""
        known = hashlib.sha256(f"{self.basis} {self.tree.name!r}\n".encode())
        for path in wanted:
            self.progress(path)
            known.update(f"{path!r} {digest(self.tree.read(path))}\n".encode())
        for path in self.tree.paths():
            known.update(f"{path!r} {self.tree.size(path)}\n".encode())
        known.update(repr(self.tree.skip_reasons).encode())
        return known.hexdigest()

    def get(self, key: str) -> Kept | None:
        """The cache entry, unless one of the other files that it depends on has changed."""
        value = self._value(key)
        try:
            kept = Kept(str(value["text"]), bool(value["serious"]), dict(value["also"]))
        except (TypeError, KeyError, ValueError):
            return None
        same = all(path in self.tree and digest(self.tree.read(path)) == known for path, known in kept.also.items())
        return kept if same else None

    def keep(self, key: str, wanted: Sequence[str], kept: Kept) -> None:
        """Store an entry, unless it is so large that a few of its size would fill the cache."""
        if len(kept.text) > _LARGEST:
            return
        value = {"text": kept.text, "serious": kept.serious, "also": kept.also}
        self.cache.put({self._names_key(): json.dumps(list(wanted)), key: json.dumps(value)})

    def _names_key(self) -> str:
        """The key of the list of scanned files, which depends on the paths alone."""
        return hashlib.sha256(f"{_program()} {self.tree.paths()!r}".encode()).hexdigest()

    def _value(self, key: str) -> Any:
        """The JSON value of a key; None if missing or invalid, because other programs can write to the cache."""
        try:
            return json.loads(self.cache.get([key]).get(key, "null"))
        except (ValueError, RecursionError):
            return None


@dataclass
class Noted:
    """Reads files and records their digests."""

    read: Reads
    digests: dict[str, str] = field(default_factory=dict)

    def __call__(self, path: str) -> bytes | None:
        data = self.read(path)
        self.digests[path] = digest(data)
        return data


def digest(data: bytes | None) -> str:
    """SHA-256 of the bytes of a file; empty if the file cannot be read."""
    return "" if data is None else hashlib.sha256(data).hexdigest()
