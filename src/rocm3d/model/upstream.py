"""What can be sent to the people who own the code: one proposal for each repository that a port changes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from rocm3d.model.base import Document, Record
from rocm3d.model.evidence import Sealed
from rocm3d.model.patch import Proof
from rocm3d.model.verdict import Verdict

DraftKind = Literal["pr", "issue"]
Part = Literal["repository", "submodule", "dependency"]


class Edited(Record):
    """One existing file; `proof` is None where nobody has shown that it is the same without ROCm."""

    path: str
    recipes: tuple[str, ...] = ()
    proof: Proof | None = None
    plus: int = Field(default=0, description="lines added")
    minus: int = Field(default=0, description="lines taken away")

    @property
    def holds(self) -> bool:
        """Whether it was proven."""
        return self.proof is not None and self.proof.holds


class Proposal(Record):
    """What changes in one repository, and what was looked at there. Paths are seen from its own root.

    `inside` is where a submodule lies in the repository around it. Of a dependency from git the documents of a port say
    nothing: it has a patch, and no proof or check of its own.
    """

    name: str
    part: Part
    origin: str = ""
    commit: str = ""
    inside: str = ""
    edited: tuple[Edited, ...] = ()
    added: tuple[str, ...] = ()
    checks: tuple[Verdict, ...] = ()


class Draft(Record):
    """A draft as it lies in its folder. `fix` is what the ledger calls it; empty: it was not entered."""

    name: str
    part: Part
    kind: DraftKind
    title: str
    folder: str
    origin: str = ""
    commit: str = ""
    passed: int = Field(description="checks that looked at this code and passed")
    failed: int
    not_tested: int = Field(description="checks that were skipped or not run, or looked at other code")
    fix: str = ""


class Drafts(Document):
    """drafts.json: the drafts of a port, and the digest of every file as it was written."""

    repository: str
    drafts: tuple[Draft, ...]
    files: tuple[Sealed, ...]
