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
    """An edit that was planned and not made: unsure means no."""

    path: str
    recipe: str
    reason: str


class Patch(Document):
    """patch.json: what apply did, or would do with --dry-run."""

    repository: str
    folder: str
    dry_run: bool
    changes: tuple[FileChange, ...]
    refused: tuple[Refused, ...]
    left: tuple[LeftForPerson, ...]
