"""Loads the shipped knowledge base, merged with a user's overlay.

The shipped records are read by kind on first use. The overlay is read at once, so that every command reports mistakes
in it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, ValuesView
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from rocm3d.knowledge.base import Knowledge
from rocm3d.knowledge.folder import RecordFolder
from rocm3d.knowledge.kinds import FOLDERS, KINDS, TABLES
from rocm3d.knowledge.record_files import data_folder, scan_fingerprint
from rocm3d.model.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.knowledge.base import RecipeExample
    from rocm3d.knowledge.folder import RecordCache

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

K = TypeVar("K")
V = TypeVar("V")

__all__ = ["FOLDERS", "TABLES", "data_folder", "load", "tomllib"]


def load(overlay: Path | None = None, cache: RecordCache | None = None) -> Knowledge:
    """The shipped knowledge with the records of the overlay. An overlay record replaces the one of same kind and id."""
    folders = [RecordFolder(data_folder(), cache)]
    if overlay is not None:
        if not overlay.is_dir():
            raise UserError(f"--knowledge {overlay} is not a folder")
        folders.append(RecordFolder(overlay))
        folders[-1].read_all()
    releases = [release for folder in folders if (release := folder.single("release")) is not None]
    if not releases:
        raise UserError(f"{data_folder() / 'release.toml'} is missing", hint="reinstall rocm3d")
    return Knowledge(
        date=releases[-1].date,
        examples=LazyMapping(partial(_examples, folders)),
        places=LazyMapping(partial(_record_files, folders)),
        methods=LazyMapping(partial(_methods, folders)),
        digests=LazyMapping(lambda: {"scan": scan_fingerprint(folder.root for folder in folders)}),
        **{kind: LazyMapping(partial(_records, folders, kind)) for kind in KINDS},
    )


def _records(folders: list[RecordFolder], kind: str) -> dict[str, Any]:
    """Sorted by id, except for backends and suites: there the first match wins, so the order of the file counts."""
    if kind == "recipes":  # of the rules in use: a rule of the overlay replaces the shipped one with its fix
        recipes = (rule.recipe for rule in _records(folders, "codes").values())
        return dict(sorted((recipe.id, recipe) for recipe in recipes if recipe is not None))
    records = {name: record for folder in folders for name, record in folder.records(kind).items()}
    return records if kind in ("backends", "suites") else dict(sorted(records.items()))


def _examples(folders: list[RecordFolder]) -> dict[str, RecipeExample]:
    """A recipe of the overlay does not inherit the examples of the shipped one."""
    examples = {name: example for folder in folders for name, example in folder.examples()}
    return {name: example for name, example in examples.items() if example is not None}


def _record_files(folders: list[RecordFolder]) -> dict[tuple[str, str], str]:
    return {
        (kind, name): folder.file_of(kind, name)
        for folder in folders
        for kind in KINDS
        for name in folder.records(kind)
    }


def _methods(folders: list[RecordFolder]) -> dict[str, Any]:
    methods = [method for folder in folders if (method := folder.single("method")) is not None]
    return {method.name: method for method in methods[-1:]}


class LazyMapping(Mapping[K, V]):
    """A dictionary that `read` fills on first use. It is pickled as a plain dictionary."""

    def __init__(self, read: Callable[[], dict[K, V]]) -> None:
        self._read = read

    @cached_property
    def _loaded(self) -> dict[K, V]:
        return self._read()

    def __getitem__(self, key: K) -> V:
        return self._loaded[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)

    def __contains__(self, key: object) -> bool:
        return key in self._loaded

    def __repr__(self) -> str:
        return repr(self._loaded)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (self._loaded,)

    # The views of the dictionary are faster: those of Mapping do a lookup for every value.
    def keys(self) -> KeysView[K]:
        """The keys, in order."""
        return self._loaded.keys()

    def values(self) -> ValuesView[V]:
        """The records, in order."""
        return self._loaded.values()

    def items(self) -> ItemsView[K, V]:
        """Keys and records, in order."""
        return self._loaded.items()
