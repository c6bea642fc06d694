"""Fixes that several repositories wait for, and what became of each where it was sent."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rocm3d.model.base import Document, Record

FixState = Literal["open", "merged", "refused"]

_LINK = re.compile(r"https?://[^\s/@\x00-\x20<>\"'`]+(?:/[^\s\x00-\x20<>\"'`]*)?")


def link(text: str) -> str:
    """An address that anybody can open: no other scheme, no blanks, nobody's password in it."""
    if len(text) > 500 or not text.isascii() or _LINK.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not a link such as https://github.com/OWNER/NAME/pull/1")
    return text


Link = Annotated[str, AfterValidator(link)]


class Fix(Record):
    """One change to one dependency. `lines` tells it from others: the same lines at another commit are the same fix."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    dependency: str = Field(min_length=1, max_length=200)
    what: str = Field(default="", max_length=500)
    origin: str = Field(default="", description="the address of its code, as the repositories name it")
    lines: str = Field(default="", description="SHA-256 of the changed lines; empty: entered by hand")
    repositories: tuple[str, ...] = Field(default=(), description="that it unblocks, by name")
    state: FixState = "open"
    links: tuple[Link, ...] = ()
    note: str = Field(default="", max_length=500)
    first: date
    changed: date

    @model_validator(mode="after")
    def _shows_where(self) -> Fix:
        if self.state != "open" and not self.links:
            raise ValueError(f"{self.state} needs a link that shows it")
        return self

    @property
    def sent(self) -> bool:
        """Whether anybody was told of it, as far as is known here."""
        return bool(self.links)


class Ledger(Document):
    """ledger.json, in the user's data folder. `kind` comes early: a damaged one is still known for what it is."""

    kind: Literal["ledger"] = "ledger"
    fixes: tuple[Fix, ...] = ()
