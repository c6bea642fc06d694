"""Checked-out submodules: their commits, and their files as committed.

Edits inside a submodule cannot be committed with the outer repository. They become a patch for exactly that commit,
which install.sh applies. The checkout itself is not changed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.apply.folders import Folders
from rocm3d.workspace.git import committed_file, head_commit, uncommitted_paths
from rocm3d.workspace.journal import digest

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.model.patch import Patch
    from rocm3d.workspace.tree import Tree


@dataclass(frozen=True)
class Module:
    """A submodule that is checked out; `commit` is None if git does not report it or its path is not shell-safe."""

    path: str
    commit: str | None

    @property
    def name(self) -> str:
        """The last part of its path; install.sh and patch files use it."""
        return posixpath.basename(self.path)

    @property
    def patch(self) -> str:
        """The path of its patch, relative to the port folder."""
        return f"patches/{self.name}@{self.commit}.patch"

    def inside(self, path: str) -> str | None:
        """The path relative to the submodule; None for a path outside it."""
        return path.removeprefix(f"{self.path}/") if path.startswith(f"{self.path}/") else None


def checked_out(tree: Tree) -> tuple[Module, ...]:
    """Submodules with their own .git, innermost first."""
    paths = [item.path for item in Folders(tree).submodules if (tree.root / item.path / ".git").exists()]
    # A path that a shell or git could misread gets no patch, and its files are not edited.
    return tuple(
        Module(path, head_commit(tree.root / path) if _is_plain(path) else None)
        for path in sorted(paths, key=len, reverse=True)
    )


def holding(path: str, modules: tuple[Module, ...]) -> Module | None:
    """The submodule that contains the file."""
    return next((module for module in modules if module.inside(path) is not None), None)


def original(module: Module, path: str, tree: Tree, earlier: Patch | None) -> bytes | None:
    """The committed bytes of a file; None if the file has changes that are not from our own patch."""
    inside = module.inside(path)
    was = committed_file(tree.root / module.path, inside) if inside is not None else None
    now = tree.read(path) if path in tree else None
    if was is None or now is None:
        return None
    ours = {change.after for item in earlier.modules for change in item.changes} if earlier is not None else set()
    return was if now == was or digest(now) in ours else None


def patched_files(tree: Tree, earlier: Patch | None) -> Iterator[tuple[str, bytes]]:
    """Paths and committed bytes of submodule files to which our patch is already applied."""
    for item in earlier.modules if earlier is not None else ():
        module = Module(item.path, item.commit)
        for change in item.changes:
            was = original(module, change.path, tree, earlier)
            if was is not None and digest(was) == change.before:
                yield change.path, was


def holds_only_ours(root: Path, path: str, earlier: Patch | None) -> bool:
    """Whether our patch accounts for all uncommitted changes in the submodule."""
    for item in earlier.modules if earlier is not None else ():
        if item.path == path:
            meant = {change.path.removeprefix(f"{path}/") for change in item.changes}
            return set(uncommitted_paths(root / path) or ()) <= meant
    return False


def _is_plain(path: str) -> bool:
    return re.fullmatch(r"[\w.+/ -]+", path, re.ASCII) is not None
