"""Package indexes and conda channels that are public, and the distributions of PyPI that cannot be mistaken."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Record
from rocm3d.model.source import Fact, Identifier


class PublicIndex(Fact):
    """Places whose packages are public. `kind`: PyPI or a mirror of it, wheels of a project, or conda channels."""

    id: Identifier
    title: str
    kind: Literal["pypi", "wheels", "channels"]
    urls: tuple[str, ...] = Field(min_length=1, description="host and path without a scheme; names, for channels")
    names: tuple[str, ...] = Field(
        default=(), description="distributions of established projects on PyPI: nobody else can publish under the name"
    )


class PublicIndexTable(Record):
    """The content of indexes.toml."""

    indexes: tuple[PublicIndex, ...]
