"""Drafts of pull requests and issues, one proposal for each repository that a port changes, and the ledger of fixes.

The ledger has the fixes to dependencies: which repositories need them, and their state upstream.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from rocm3d.model.base import Document, Record
from rocm3d.model.evidence import SealedFile
from rocm3d.model.patch import Proof
from rocm3d.model.verdict import Verdict

DraftKind = Literal["pr", "issue"]
PartKind = Literal["repository", "submodule", "dependency"]
FixState = Literal["open", "merged", "refused"]

_PUBLIC_URL = re.compile(r"https?://[^\s/@\x00-\x20<>\"'`]+(?:/[^\s\x00-\x20<>\"'`]*)?")


class EditedFile(Record):
    """One edited file. `proof` is None if it is not proven that NVIDIA builds see the same code."""

    path: str
    recipes: tuple[str, ...] = ()
    proof: Proof | None = None
    plus: int = Field(default=0, description="lines added")
    minus: int = Field(default=0, description="lines removed")

    @property
    def is_proven(self) -> bool:
        """Whether it is proven that NVIDIA builds see the same code."""
        return self.proof is not None and self.proof.holds


class Proposal(Record):
    """The changes in one repository and the checks of them. Paths are relative to its root.

    `inside` is the path of a submodule in the outer repository. A dependency from git has a patch, but no proof and no
    checks.
    """

    name: str
    part: PartKind
    origin: str = ""
    commit: str = ""
    inside: str = ""
    edited: tuple[EditedFile, ...] = ()
    added: tuple[str, ...] = ()
    checks: tuple[Verdict, ...] = ()


class Draft(Record):
    """A draft in its folder. `fix` is its id in the ledger; empty: not in the ledger."""

    name: str
    part: PartKind
    kind: DraftKind
    title: str
    folder: str
    origin: str = ""
    commit: str = ""
    passed: int = Field(description="checks of this code that passed")
    failed: int
    not_tested: int = Field(description="checks that were skipped, not run, or about other code")
    fix: str = ""


class Drafts(Document):
    """drafts.json: the drafts of a port, and the digest of every written file."""

    repository: str
    drafts: tuple[Draft, ...]
    files: tuple[SealedFile, ...]


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


class Ledger(Document):
    """ledger.json, in the user's data folder. `kind` comes early, so that even a damaged file is recognised."""

    kind: Literal["ledger"] = "ledger"
    fixes: tuple[Fix, ...] = ()
