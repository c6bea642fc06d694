"""Results by content: a unit, the files it was made of, its flags, the toolchain. What has not changed is known."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rocm3d.model.compilation import Kept, KeptResults
from rocm3d.workspace.state import PORT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm3d.model.compilation import Side
    from rocm3d.workspace.result_cache import ResultCache

_MOST = 4  # results of one key: a header that goes back and forth


@dataclass
class ContentCache:
    """`tree` is the copy that is compiled; files below `roots` are known by the digest in every key."""

    store: ResultCache | None
    tree: Path
    roots: tuple[Path, ...]
    _digests: dict[Path, str] = field(default_factory=dict)

    def key(self, *parts: str) -> str:
        """Of everything that decides besides the content of files."""
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def names(self) -> str:
        """Of all files: one that is added can hide another. What a port adds in its folder, nothing includes."""
        paths = (path.relative_to(self.tree) for path in self.tree.rglob("*") if path.is_file())
        return self.key(*sorted(path.as_posix() for path in paths if path.parts[0] != PORT))

    def find(self, key: str) -> Side | None:
        """A result whose files are all as they were."""
        for kept in self._kept(key):
            if all(self._digest(name) == digest for name, digest in kept.files.items()):
                return kept.result
        return None

    def keep(self, key: str, files: Iterable[Path], result: Side) -> None:
        """Remember a result. Files are those that the compiler read."""
        if self.store is None:
            return
        names = {self._name(path): path for path in files if not any(path.is_relative_to(root) for root in self.roots)}
        kept = Kept(files={name: self._digest(name) for name in sorted(names)}, result=result)
        others = [item for item in self._kept(key) if item.files != kept.files]
        self.store.put({key: KeptResults(results=(kept, *others[: _MOST - 1])).model_dump_json()})

    def _kept(self, key: str) -> Sequence[Kept]:
        text = {} if self.store is None else self.store.get([key])
        try:
            return KeptResults.model_validate_json(text[key]).results if key in text else ()
        except ValidationError:
            return ()  # of another version

    def _name(self, path: Path) -> str:
        """Relative for files of the repository, whose copy lies elsewhere every time."""
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
    """The files that a compiler names as read, from its make rule."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    words = text.replace("\\\n", " ").partition(":")[2].replace("\\ ", "\0").split()
    return [(cwd / word.replace("\0", " ")).resolve() for word in words]
