"""The ledger of fixes to dependencies: which repositories need them, and their state upstream."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rocm3d.model.base import Document, Record

FixState = Literal["open", "merged", "refused"]

_PUBLIC_URL = re.compile(r"https?://[^\s/@\x00-\x20<>\"'`]+(?:/[^\s\x00-\x20<>\"'`]*)?")


def check_public_url(text: str) -> str:
    """Accept only public http(s) URLs: no other scheme, no whitespace, no user or password."""
    if len(text) > 500 or not text.isascii() or _PUBLIC_URL.fullmatch(text) is None:
        raise ValueError(f"{text!r} is not a link such as https://github.com/OWNER/NAME/pull/1")
    return text


PublicUrl = Annotated[str, AfterValidator(check_public_url)]


class Fix(Record):
    """One change to one dependency. `lines` identifies it: the same lines at another commit are the same fix."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")
    dependency: str = Field(min_length=1, max_length=200)
    what: str = Field(default="", max_length=500)
    origin: str = Field(default="", description="URL of the dependency's code, as written in the repositories")
    lines: str = Field(default="", description="SHA-256 of the changed lines; empty: entered by hand")
    repositories: tuple[str, ...] = Field(default=(), description="names of the repositories that it unblocks")
    state: FixState = "open"
    links: tuple[PublicUrl, ...] = ()
    note: str = Field(default="", max_length=500)
    first: date
    changed: date

    @model_validator(mode="after")
    def _check_link(self) -> Fix:
        if self.state != "open" and not self.links:
            raise ValueError(f"state {self.state} needs a link as proof")
        return self

    @property
    def has_link(self) -> bool:
        """Whether the ledger has a link to an upstream issue or pull request."""
        return bool(self.links)


class Ledger(Document):
    """ledger.json, in the user's data folder. `kind` comes early, so that even a damaged file is recognised."""

    kind: Literal["ledger"] = "ledger"
    fixes: tuple[Fix, ...] = ()
