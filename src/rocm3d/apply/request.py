"""Input of apply: the user's options, and the tree before any earlier apply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rocm3d.apply.edit_selection import EditSelection
from rocm3d.apply.submodules import CheckedOutSubmodule


@dataclass(frozen=True)
class ApplyRequest:
    """`originals` are files before any earlier apply; None for a file that did not exist.

    `submodules` are those that are checked out; edits in each become a separate patch. `dependency_patches` are the
    patches of git dependencies, by their path in the port folder.
    """

    folder: str
    review: bool = False
    dry_run: bool = False
    originals: Mapping[str, bytes | None] = field(default_factory=dict)
    selection: EditSelection = field(default_factory=EditSelection)
    submodules: tuple[CheckedOutSubmodule, ...] = ()
    dependency_patches: Mapping[str, bytes] = field(default_factory=dict)
