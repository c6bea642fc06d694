"""How to apply: what a person asked for, and what the tree was before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocm3d.apply.choice import Choice
from rocm3d.apply.modules import Module


@dataclass(frozen=True)
class Request:
    """`originals` are files as they were before any earlier apply; None for one that was not there.

    `modules` are submodules that are checked out: what is edited in them becomes a patch of its own.
    """

    folder: str
    review: bool = False
    dry_run: bool = False
    originals: Mapping[str, bytes | None] = field(default_factory=dict)
    choice: Choice = field(default_factory=Choice)
    modules: tuple[Module, ...] = ()
