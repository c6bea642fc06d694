"""What apply changed, with the proof that NVIDIA users do not see it."""

from __future__ import annotations

from typing import Literal

from rocm3d.model.base import Document, Record
from rocm3d.model.plan import LeftForPerson


class Proof(Record):
    """How an edit was shown to be invisible without ROCm."""

    kind: Literal[
        "python-guard-folded",
        "cpp-directives-evaluated",
        "cpp-tokens-equal",
        "closed-list",
        "cmake-guard-folded",
        "ignore-lines-appended",
        "added-file",
    ]
    holds: bool
    detail: str


class FileChange(Record):
    """One file added or edited; `before` is None for an added one. Digests are SHA-256."""

    path: str
    kind: Literal["added", "edited"]
    before: str | None
    after: str
    recipes: tuple[str, ...]
    proof: Proof
    diff: str


class Refused(Record):
    """An edit that was planned and not made: unsure means no. `places` are those of its findings."""

    path: str
    recipe: str
    reason: str
    places: tuple[str, ...] = ()


class ModulePatch(Record):
    """Edits inside a submodule, as a patch of its own for that commit; the submodule itself stays as it is.

    `file` is where the patch lies, and paths of `changes` are seen from the repository around it.
    """

    path: str
    name: str
    commit: str
    file: str
    changes: tuple[FileChange, ...]


class Unseen(Record):
    """Code that the port uses and nobody looked at, and the commands that would."""

    name: str
    where: str
    reason: str
    commands: tuple[str, ...]


class Patch(Document):
    """patch.json: what apply did, or would do with --dry-run."""

    repository: str
    folder: str
    dry_run: bool
    changes: tuple[FileChange, ...]
    refused: tuple[Refused, ...]
    left: tuple[LeftForPerson, ...]
    modules: tuple[ModulePatch, ...] = ()
    unseen: tuple[Unseen, ...] = ()

    @property
    def edited(self) -> tuple[FileChange, ...]:
        """Every edited file, those of submodules included."""
        inside = (change for module in self.modules for change in module.changes)
        return (*(change for change in self.changes if change.kind == "edited"), *inside)
