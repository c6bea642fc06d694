"""One folder of records, read by kind: the shipped one or an overlay. Every error names the file and the key.

A cache stores the record of a file as JSON under the digest of its bytes. JSON and not pickle, because a cache folder
is untrusted: cached records are validated by the same model as the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import tomli  # not tomllib: tomli has compiled wheels, and parsing records dominates a small scan
from pydantic import ValidationError

from rocm3d import __version__
from rocm3d.knowledge.base import RecipeExample
from rocm3d.knowledge.kinds import FOLDERS, KINDS, RULE_KINDS, RULES, SINGLES, TABLES
from rocm3d.knowledge.record_files import record_paths
from rocm3d.model.base import describe_validation_error
from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from rocm3d.model.base import Record
    from rocm3d.model.rule import Rule

Files = list[tuple[Path, bytes]]


class RecordCache(Protocol):
    """Texts by key. Errors of the storage count as missing entries."""

    def get(self, keys: list[str]) -> dict[str, str]:
        """The cached entries among these keys."""

    def put(self, values: Mapping[str, str]) -> None:
        """Store entries."""


class RecordFolder:
    """The records of one folder. Each kind is read once."""

    def __init__(self, root: Path, cache: RecordCache | None = None) -> None:
        self.root, self.cache = root, cache
        self._records: dict[str, dict[str, Record]] = {}
        self._files_by_kind: dict[str, Files] = {}

    def read_all(self) -> None:
        """Read all kinds, so that any mistake in the folder is reported."""
        for name in ("codes.toml", "recipes"):
            if (self.root / name).exists():
                raise UserError(f"{self.root}/{name}: write rules to rules/GROUP/RULE/rule.toml, each with its fix")
        for name in SINGLES:
            self.single(name)
        for kind in KINDS:
            self.records(kind)

    def single(self, name: str) -> Any:
        """The only record of a kind such as `release`, or None."""
        files = self._files(name)
        return self._parse_files(files, SINGLES[name])[0] if files else None

    def records(self, kind: str) -> Mapping[str, Record]:
        """The records of a kind by id, in the order of the files."""
        if kind not in self._records:
            read = self._read_rules if kind in RULE_KINDS else self._read_table if kind in TABLES else self._read_files
            self._records[kind] = dict(read(kind))
        return self._records[kind]

    def file_of(self, kind: str, name: str) -> str:
        if kind in TABLES:
            return self._display_name(self.root / f"{kind}.toml")
        if kind in FOLDERS:
            return self._display_name(self.root / kind / f"{name}.toml")
        return self._display_name(next(path for path, rule in self._rules if name in (rule.code, rule.fix_id)))

    def examples(self) -> Iterator[tuple[str, RecipeExample | None]]:
        """The examples of each recipe by id; None if a file is missing."""
        for path, rule in self._rules:
            if rule.fix is not None:
                yield rule.fix.id, _example(path.parent / "cases")

    def _read_table(self, kind: str) -> Iterator[tuple[str, Record]]:
        files, ids = self._files(kind), set()
        for record in getattr(self._parse_files(files, TABLES[kind])[0], kind) if files else ():
            if record.id in ids:
                raise UserError(f"{self._display_name(files[0][0])}: {kind}: {record.id} occurs twice")
            ids.add(record.id)
            yield record.id, record

    def _read_rules(self, kind: str) -> Iterator[tuple[str, Record]]:
        paths: dict[str, Path] = {}
        for path, rule in self._rules:
            record: Record | None = rule if kind == "codes" else rule.recipe
            record_id = rule.code if kind == "codes" else rule.fix_id
            if rule.rule != path.parent.name:
                raise UserError(f"{self._display_name(path)}: rule: {rule.rule!r} does not match its folder")
            if record_id in paths:
                raise UserError(f"{self._display_name(path)}: {record_id} is also in {paths[record_id].parent.name}")
            if record is not None:
                paths[record_id] = path
                yield record_id, record

    @cached_property
    def _rules(self) -> list[tuple[Path, Rule]]:
        files = self._files("rules")
        return [(path, rule) for (path, _), rule in zip(files, self._parse_files(files, RULES["rules"]), strict=True)]  # type: ignore[misc]

    def _read_files(self, kind: str) -> Iterator[tuple[str, Record]]:
        files, key = self._files(kind), "gfx" if kind == "targets" else "id"
        for (path, _), record in zip(files, self._parse_files(files, FOLDERS[kind]), strict=True):
            record_id = getattr(record, key)
            if record_id != path.stem:
                problem = f"{record_id!r} does not match the file name {path.stem!r}"
                raise UserError(f"{self._display_name(path)}: {key}: {problem}")
            yield record_id, record

    def _files(self, kind: str) -> Files:
        """The files of a kind with their bytes, sorted."""
        if kind not in self._files_by_kind:
            self._files_by_kind[kind] = [(path, self._read_bytes(path)) for path in record_paths(self.root, kind)]
        return self._files_by_kind[kind]

    def _read_bytes(self, path: Path) -> bytes:
        try:
            return path.read_bytes()
        except OSError as error:
            raise UserError(f"{self._display_name(path)}: {error}") from error

    def _parse_files(self, files: Files, model: type[Record]) -> list[Record]:
        """One record per file, from the cache if its bytes are unchanged."""
        keys = [_cache_key(model.__name__, data) for _, data in files] if self.cache else []
        cached = self.cache.get(keys) if self.cache else {}
        restored = [_from_cache(cached.get(key), model) for key in keys] or [None] * len(files)
        missing = [n for n, record in enumerate(restored) if record is None]
        parsed = {n: self._parse_record(*files[n], model) for n in missing}
        if self.cache and parsed:
            self.cache.put({keys[n]: record.model_dump_json() for n, record in parsed.items()})
        return [parsed[n] if record is None else record for n, record in enumerate(restored)]

    def _parse_record(self, path: Path, data: bytes, model: type[Record]) -> Record:
        try:
            raw = tomli.loads(data.decode("utf-8"))
        except (tomli.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise UserError(f"{self._display_name(path)}: {error}") from error
        try:
            return model.model_validate(raw)
        except ValidationError as error:
            raise UserError(f"{self._display_name(path)}: {describe_validation_error(error)}") from error

    def _display_name(self, path: Path) -> str:
        return f"{self.root.resolve().name}/{path.relative_to(self.root).as_posix()}"


def _cache_key(name: str, data: bytes) -> str:
    return hashlib.sha256(f"{__version__} {name}\n".encode() + data).hexdigest()


def _from_cache(text: str | None, model: type[Record]) -> Record | None:
    """A record from the cache; None if it is missing or invalid."""
    try:
        return None if text is None else model.model_validate_json(text)
    except ValidationError:
        return None


def _example(folder: Path) -> RecipeExample | None:
    siblings = sorted(folder.iterdir()) if folder.is_dir() else []
    paths = {
        part: next((path for path in siblings if path.stem == part), None) for part in ("before", "after", "untouched")
    }
    if any(path is None for path in paths.values()):
        return None
    texts = {part: path.read_bytes() for part, path in paths.items() if path is not None}
    before = paths["before"]
    assert before is not None
    return RecipeExample(name=f"example{before.suffix}", **texts)
