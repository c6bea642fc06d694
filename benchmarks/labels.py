"""Labels of the corpus benchmark, from corpus.toml: pairs of a base and its ports, and the changes of the ports."""

from __future__ import annotations

import sys
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.code import ChangeKind

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("corpus.toml")


class Label(Record):
    """One change of a port, at lines of the base. corpus.toml says what each field means."""

    file: str
    kind: ChangeKind
    first: int = Field(ge=1)
    last: int = Field(ge=1)
    required: bool
    visible: bool
    sites: tuple[tuple[str, int], ...] = ()
    also: tuple[tuple[int, int], ...] = ()
    unnoticed: str = ""
    why: str = ""

    @property
    def is_scored(self) -> bool:
        """Whether the label counts for recall."""
        return self.required and self.visible

    def __str__(self) -> str:
        lines = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.file}:{lines} {self.kind}"


class Port(Record):
    """A human port of a base."""

    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    commit: str = Field(pattern=r"^[0-9a-f]{40}$")
    who: str


class Pair(Record):
    id: str
    family: str
    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    base: str = Field(pattern=r"^[0-9a-f]{40}$")
    ports: tuple[Port, ...] = Field(min_length=1)
    whole_extension: bool
    labels: tuple[Label, ...] = Field(min_length=1)


class Corpus(Record):
    """The whole file."""

    excluded: tuple[str, ...]
    excluded_suffixes: tuple[str, ...]
    pairs: tuple[Pair, ...]

    def is_scored(self, path: str) -> bool:
        """Whether findings in this file are scored: not in documents, tests and vendored code."""
        folders = {f"{part}/" for part in PurePosixPath(path).parts[:-1]}
        return not folders & set(self.excluded) and not path.endswith(self.excluded_suffixes)


def load(path: Path = FILE) -> Corpus:
    """Read and validate the corpus."""
    return Corpus.model_validate(read_toml(path))


def read_toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))
