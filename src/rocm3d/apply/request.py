"""Input of apply: the user's options, and the tree before any earlier apply."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from rocm3d.apply.edit_selection import EditSelection
from rocm3d.apply.submodules import CheckedOutSubmodule


@dataclass(frozen=True)
class ApplyRequest:
    """`originals` are files before any earlier apply; None for a file that did not exist.

    `submodules` are those that are checked out; edits in each become a separate patch. `left_out` has the reason for
    each edit, by path and recipe, that is not made. The files in `restarted` are edited anew from their originals.
    `dependency_patches` are the patches of git dependencies, by their path in the port folder.
    """

    folder: str
    safe_only: bool = False
    dry_run: bool = False
    originals: Mapping[str, bytes | None] = field(default_factory=dict)
    selection: EditSelection = field(default_factory=EditSelection)
    submodules: tuple[CheckedOutSubmodule, ...] = ()
    left_out: Mapping[tuple[str, str], str] = field(default_factory=dict)
    restarted: Collection[str] = ()
    dependency_patches: Mapping[str, bytes] = field(default_factory=dict)
