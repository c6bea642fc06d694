"""Reads the data folder into models; every error names the file and the key."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from rocm3d.knowledge.base import Example, Knowledge
from rocm3d.model.advice import Advice
from rocm3d.model.backend import BackendTable
from rocm3d.model.base import Record, describe
from rocm3d.model.code import CodeTable
from rocm3d.model.failure import UserError
from rocm3d.model.family import Family
from rocm3d.model.method import Method
from rocm3d.model.package import Package
from rocm3d.model.port import Port
from rocm3d.model.recipe import Recipe
from rocm3d.model.release import Release
from rocm3d.model.stack import Stack
from rocm3d.model.target import Target
from rocm3d.model.tolerance import ToleranceTable
from rocm3d.model.variable import Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

R = TypeVar("R", bound=Record)

FOLDERS: dict[str, type[Record]] = {
    "targets": Target,
    "stacks": Stack,
    "packages": Package,
    "families": Family,
    "advice": Advice,
    "variables": Variable,
    "ports": Port,
}
# One file with a table of records each: file stem -> model of the file; its one field holds the records.
TABLES: dict[str, type[Record]] = {"codes": CodeTable, "tolerances": ToleranceTable, "backends": BackendTable}


def data_folder() -> Path:
    """Where the shipped records lie: inside the wheel, or at the root of a checkout."""
    shipped = Path(__file__).parent / "data"
    return shipped if shipped.is_dir() else Path(__file__).parents[3] / "knowledge"


def load(overlay: Path | None = None) -> Knowledge:
    """The shipped knowledge, with a user's records laid over it: same kind and id, theirs wins."""
    loader = _Loader()
    loader.read(data_folder())
    if overlay is not None:
        if not overlay.is_dir():
            raise UserError(f"--knowledge {overlay} is not a folder")
        loader.read(overlay)
    return loader.knowledge()


class _Loader:
    """Collects records of one folder after another."""

    def __init__(self) -> None:
        self.release: Release | None = None
        self.method: Method | None = None
        self.records: dict[str, dict[str, Record]] = {kind: {} for kind in (*FOLDERS, *TABLES, "recipes")}
        self.examples: dict[str, Example] = {}
        self.places: dict[tuple[str, str], str] = {}

    def read(self, folder: Path) -> None:
        if (folder / "release.toml").is_file():
            self.release = _record(folder / "release.toml", Release, folder)
        if (folder / "method.toml").is_file():
            self.method = _record(folder / "method.toml", Method, folder)
        for kind, model in TABLES.items():
            if (folder / f"{kind}.toml").is_file():
                self._read_table(kind, model, folder)
        for kind, model in FOLDERS.items():
            for path in sorted((folder / kind).glob("*.toml")):
                self._keep(kind, path.stem, _record(path, model, folder), path, folder)
        for path in sorted((folder / "recipes").glob("*/*/recipe.toml")):
            recipe = _record(path, Recipe, folder)
            self._keep("recipes", path.parent.name, recipe, path, folder)
            example = _example(path.parent)
            self.examples.pop(recipe.id, None)  # an overlay's recipe does not inherit the examples of ours
            if example is not None:
                self.examples[recipe.id] = example

    def _read_table(self, kind: str, model: type[Record], folder: Path) -> None:
        path = folder / f"{kind}.toml"
        seen: set[str] = set()
        for record in getattr(_record(path, model, folder), kind):
            own = record.code if kind == "codes" else record.id
            if own in seen:
                raise UserError(f"{_name(path, folder)}: {kind}: {own} stands twice")
            seen.add(own)
            self.records[kind][own] = record
            self.places[kind, own] = _name(path, folder)

    def _keep(self, kind: str, stem: str, record: Record, path: Path, folder: Path) -> None:
        own = getattr(record, "gfx" if kind == "targets" else "id")
        if own != stem:
            key = "gfx" if kind == "targets" else "id"
            raise UserError(f"{_name(path, folder)}: {key}: is {own!r}, but the file is named {stem!r}")
        self.records[kind][own] = record
        self.places[kind, own] = _name(path, folder)

    def knowledge(self) -> Knowledge:
        if self.release is None:
            raise UserError(f"{data_folder() / 'release.toml'} is missing", hint="install rocm3d again")
        return Knowledge(
            date=self.release.date,
            examples=self.examples,
            places=self.places,
            method=self.method,
            **{kind: _ordered(kind, found) for kind, found in self.records.items()},  # type: ignore[arg-type]
        )


def _ordered(kind: str, records: dict[str, Record]) -> dict[str, Record]:
    """By id, but for backends: there the first match wins, so the order of the file is a fact."""
    return records if kind == "backends" else dict(sorted(records.items()))


def _record(path: Path, model: type[R], folder: Path) -> R:
    name = _name(path, folder)
    try:
        raw: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError, OSError) as error:
        raise UserError(f"{name}: {error}") from error
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise UserError(f"{name}: {describe(error)}") from error


def _example(folder: Path) -> Example | None:
    found = {part: next(_files(folder, part), None) for part in ("before", "after", "untouched")}
    if any(path is None for path in found.values()):
        return None
    texts = {part: path.read_bytes() for part, path in found.items() if path is not None}
    before = found["before"]
    assert before is not None
    return Example(name=f"example{before.suffix}", **texts)


def _files(folder: Path, stem: str) -> Iterator[Path]:
    return (path for path in sorted(folder.iterdir()) if path.stem == stem)


def _name(path: Path, folder: Path) -> str:
    return f"{folder.resolve().name}/{path.relative_to(folder).as_posix()}"
