"""Sources of facts and their confidence."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import AfterValidator, Field

from rocm3d.model.base import Record

Confidence = Literal["verified", "reported", "inferred"]
"""verified: we have an evidence bundle; reported: the source says that it ran; inferred: follows from documents."""

Status = Literal["active", "planned", "refuted"]
"""planned: its detector or rewrite does not exist yet, so it is never used; refuted: no longer true."""


def _check_specifier(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier as error:
        raise ValueError(f"{text!r} is not a version range such as '>=6.4,<7'") from error
    return text


Range = Annotated[str, AfterValidator(_check_specifier)]
"""A PEP 440 specifier; the empty string means any version."""

Identifier = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
Gfx = Annotated[str, Field(pattern=r"^gfx[0-9]{2,4}[0-9a-f]$")]


class Source(Record):
    """A public source: repository@commit and path, issue or PR number, or the title of a document."""

    where: str = Field(min_length=4)
    says: str = ""


class Fact(Record):
    """The keys that every record of knowledge/ has."""

    checked: date
    confidence: Confidence
    sources: tuple[Source, ...] = Field(min_length=1)
