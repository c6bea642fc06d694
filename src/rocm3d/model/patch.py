"""The changes that apply made, with the proof that NVIDIA builds see the same code."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from rocm3d.model.base import Digest, Document, Record, TreePath
from rocm3d.model.plan import UnresolvedFinding
from rocm3d.model.task import PortTask

ProofKind = Literal[
    "python-guard-folded",
    "cpp-directives-evaluated",
    "cpp-tokens-equal",
    "closed-list",
    "cmake-guard-folded",
    "ignore-lines-appended",
    "added-file",
]


class Proof(Record):
    """How it was proven that NVIDIA builds see the same code."""

    kind: ProofKind
    holds: bool
    detail: str


class ReviewNote(Record):
    """An edit that was made and that somebody should read: the recipe, its places, and what to check there."""

    recipe: str
    places: tuple[str, ...] = ()
    check: str

    @property
    def where(self) -> str:
        """The path once, with all lines: `a.cu:3,17`."""
        path = self.places[0].rpartition(":")[0] if self.places else ""
        return f"{path}:{','.join(text.rpartition(':')[2] for text in self.places)}" if path else ""


class FileChange(Record):
    """One added or edited file. `before` and `after` are SHA-256 digests; `before` is None for an added file."""

    path: TreePath
    kind: Literal["added", "edited"]
    before: str | None
    after: str
    recipes: tuple[str, ...]
    proof: Proof
    diff: str
    review: tuple[ReviewNote, ...] = ()


SAFE_ONLY = "left out by --safe-only"
DECLINED = "you left it out in rocm3d review"
RefusalKind = Literal["task", "left_out", "not_needed"]
"""task: a person has to make it; left_out: by an option or an answer; not_needed: the code is right as it is."""


class RefusedEdit(Record):
    """A planned edit that was not made. `places` are the locations of its findings."""

    path: str
    recipe: str
    reason: str
    places: tuple[str, ...] = ()
    kind: RefusalKind = "task"


class SubmodulePatch(Record):
    """Edits of a submodule, as a separate patch against its commit. The submodule itself is not changed.

    `file` is the path of the patch. Paths in `changes` are relative to the outer repository.
    """

    path: TreePath
    name: str
    commit: str
    file: TreePath
    changes: tuple[FileChange, ...]


class Patch(Document):
    """patch.json: the changes of apply; with --dry-run the changes that it would make.

    `plan` is the digest of the applied plan, `tree` that of the files when apply was done.
    """

    repository: str
    folder: TreePath
    dry_run: bool
    changes: tuple[FileChange, ...]
    refused: tuple[RefusedEdit, ...]
    left: tuple[UnresolvedFinding, ...]
    modules: tuple[SubmodulePatch, ...] = ()
    dependencies: tuple[SubmodulePatch, ...] = Field(
        default=(), description="edits of git dependencies that were fetched; `path` is name@commit"
    )
    tasks: tuple[PortTask, ...] = Field(default=(), description="what is left for a person")
    plan: Digest = ""
    tree: Digest = ""

    @property
    def left_out(self) -> tuple[RefusedEdit, ...]:
        """Edits that could be made and were not: by an option, or by an answer in `rocm3d review`."""
        return tuple(item for item in self.refused if item.kind == "left_out")

    @property
    def review(self) -> tuple[ReviewNote, ...]:
        """Edits that were made and that somebody should read, of all files."""
        return tuple(note for change in self.edited for note in change.review)

    @model_validator(mode="before")
    @classmethod
    def _without_former_keys(cls, data: Any) -> Any:
        """Documents up to schema 1.1 listed unscanned code here; since then the inventory does."""
        return {key: value for key, value in data.items() if key != "unseen"} if isinstance(data, dict) else data

    @property
    def edited(self) -> tuple[FileChange, ...]:
        """All edited files, including those of submodules."""
        return (
            *(change for change in self.changes if change.kind == "edited"),
            *(change for module in self.modules for change in module.changes),
        )
