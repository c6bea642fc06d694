"""A cache of compile results, by the content of all files read, the flags and the toolchain."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rocm3d.model.verdict import CachedCompileResult, CachedCompileResults
from rocm3d.workspace.state import PORT_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm3d.model.verdict import CompileResult
    from rocm3d.workspace.result_cache import ResultCache

_MAX_RESULTS = 4  # results per key, for headers that change back and forth


@dataclass
class ContentCache:
    """`tree`: the copy that is compiled. Files in `roots` are not hashed: every key contains their digest."""

    store: ResultCache | None
    tree: Path
    roots: tuple[Path, ...]
    _digests: dict[Path, str] = field(default_factory=dict)

    def key(self, *parts: str) -> str:
        """A digest of everything that influences a result except file contents."""
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

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
        names = {self._name(path): path for path in files if not any(path.is_relative_to(root) for root in self.roots)}
        entry = CachedCompileResult(files={name: self._digest(name) for name in sorted(names)}, result=result)
        others = [item for item in self._entries(key) if item.files != entry.files]
        self.store.put({key: CachedCompileResults(results=(entry, *others[: _MAX_RESULTS - 1])).model_dump_json()})

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
                self._digests[path] = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError:
                self._digests[path] = "gone"
        return self._digests[path]


def read_dependencies(file: Path, cwd: Path) -> list[Path]:
    """The files in a compiler's dependency file (a make rule); empty if there is no such file."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    words = text.replace("\\\n", " ").partition(":")[2].replace("\\ ", "\0").split()
    return [(cwd / word.replace("\0", " ")).resolve() for word in words]
