"""One folder of records, read by kind: the shipped one or an overlay. Every error names the file and the key.

A cache stores the record of a file as JSON under the digest of its bytes. JSON and not pickle, because a cache folder
is untrusted: cached records are validated by the same model as the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import tomli  # not tomllib: tomli has compiled wheels, and parsing records dominates a small scan
from pydantic import ValidationError

from rocm3d import __version__
from rocm3d.knowledge.base import Example
from rocm3d.knowledge.kinds import FOLDERS, KINDS, RECIPES, SINGLES, TABLES
from rocm3d.knowledge.shipped import paths_of
from rocm3d.model.base import describe_validation_error
from rocm3d.model.failure import UserError

if TYPE_CHECKING:
    from rocm3d.model.base import Record

Files = list[tuple[Path, bytes]]


class Cache(Protocol):
    """Texts by key. Errors of the storage count as missing entries."""

    def get(self, keys: list[str]) -> dict[str, str]:
        """The cached entries among these keys."""

    def put(self, values: Mapping[str, str]) -> None:
        """Store entries."""


class Folder:
    """The records of one folder. Each kind is read once."""

    def __init__(self, root: Path, kept: Cache | None = None) -> None:
        self.root, self.kept = root, kept
        self._records: dict[str, dict[str, Record]] = {}

    def read_all(self) -> None:
        """Read all kinds, so that any mistake in the folder is reported."""
        for name in SINGLES:
            self.single(name)
        for kind in KINDS:
            self.records(kind)

    def single(self, name: str) -> Any:
        """The only record of a kind such as `release`, or None."""
        files = self._files(name)
        return self._parsed(files, SINGLES[name])[0] if files else None

    def records(self, kind: str) -> Mapping[str, Record]:
        """The records of a kind by id, in the order of the files."""
        if kind not in self._records:
            read = self._table if kind in TABLES else self._one_by_one
            self._records[kind] = dict(read(kind))
        return self._records[kind]

    def place(self, kind: str, name: str) -> str:
        """The file of a record."""
        if kind in TABLES:
            return self._name(self.root / f"{kind}.toml")
        if kind in FOLDERS:
            return self._name(self.root / kind / f"{name}.toml")
        return self._name(next(path for path, _ in self._files(kind) if path.parent.name == name))

    def examples(self) -> Iterator[tuple[str, Example | None]]:
        """The examples of each recipe by id; None if a file is missing."""
        for path, _ in self._files("recipes"):
            yield path.parent.name, _example(path.parent)

    def _table(self, kind: str) -> Iterator[tuple[str, Record]]:
        files, seen = self._files(kind), set()
        for record in getattr(self._parsed(files, TABLES[kind])[0], kind) if files else ():
            own = record.code if kind == "codes" else record.id
            if own in seen:
                raise UserError(f"{self._name(files[0][0])}: {kind}: {own} occurs twice")
            seen.add(own)
            yield own, record

    def _one_by_one(self, kind: str) -> Iterator[tuple[str, Record]]:
        files, model = self._files(kind), RECIPES[kind] if kind in RECIPES else FOLDERS[kind]
        key = "gfx" if kind == "targets" else "id"
        for (path, _), record in zip(files, self._parsed(files, model), strict=True):
            own, stem = getattr(record, key), path.parent.name if kind in RECIPES else path.stem
            if own != stem:
                raise UserError(f"{self._name(path)}: {key}: {own!r} does not match the file name {stem!r}")
            yield own, record

    @cache  # noqa: B019  (a folder lives as long as the command)
    def _files(self, kind: str) -> Files:
        """The files of a kind with their bytes, sorted."""
        return [(path, self._bytes(path)) for path in paths_of(self.root, kind)]

    def _bytes(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise UserError(f"{self._name(path)}: {error}") from error

    def _parsed(self, files: Files, model: type[Record]) -> list[Record]:
        """One record per file, from the cache if its bytes are unchanged."""
        keys = [_key(model.__name__, data) for _, data in files] if self.kept else []
        known = self.kept.get(keys) if self.kept else {}
        found = [_restored(known.get(key), model) for key in keys] or [None] * len(files)
        new = [n for n, record in enumerate(found) if record is None]
        made = {n: self._record(*files[n], model) for n in new}
        if self.kept and made:
            self.kept.put({keys[n]: record.model_dump_json() for n, record in made.items()})
        return [made[n] if record is None else record for n, record in enumerate(found)]

    def _record(self, path: Path, data: bytes, model: type[Record]) -> Record:
        try:
            raw = tomli.loads(data.decode("utf-8"))
        except (tomli.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise UserError(f"{self._name(path)}: {error}") from error
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            raise UserError(f"{self._name(path)}: {describe_validation_error(error)}") from error

    def _name(self, path: Path) -> str:
        return f"{self.root.resolve().name}/{path.relative_to(self.root).as_posix()}"


def _key(name: str, data: bytes) -> str:
    return hashlib.sha256(f"{__version__} {name}\n".encode() + data).hexdigest()


def _restored(text: str | None, model: type[Record]) -> Record | None:
    """A record from the cache; None if it is missing or invalid."""
    try:
        return None if text is None else model.model_validate_json(text)
    except ValidationError:
        return None


def _example(folder: Path) -> Example | None:
    beside = sorted(folder.iterdir())
    found = {
        part: next((path for path in beside if path.stem == part), None) for part in ("before", "after", "untouched")
    }
    if any(path is None for path in found.values()):
        return None
    texts = {part: path.read_bytes() for part, path in found.items() if path is not None}
    before = found["before"]
    assert before is not None
    return Example(name=f"example{before.suffix}", **texts)
