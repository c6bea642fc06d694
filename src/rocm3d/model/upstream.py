"""Drafts of pull requests and issues: one proposal for each repository that a port changes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.evidence import SealedFile
from rocm3d.model.patch import Proof
from rocm3d.model.verdict import Verdict

DraftKind = Literal["pr", "issue"]
PartKind = Literal["repository", "submodule", "dependency"]


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
