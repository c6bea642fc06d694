"""Submodules: which are checked out, at which commit, and what their files are there.

Edits inside one cannot be committed with the repository around it. They become a patch for exactly that commit, which
install.sh applies, and the checkout stays as it is.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.apply.folders import Folders
from rocm3d.workspace.git import committed, head, uncommitted
from rocm3d.workspace.journal import digest

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.model.patch import Patch
    from rocm3d.workspace.tree import Tree


@dataclass(frozen=True)
class Module:
    """A submodule that is checked out; `commit` is None where git cannot say which one it is at."""

    path: str
    commit: str | None

    @property
    def name(self) -> str:
        """What install.sh calls it: the last part of its path."""
        return posixpath.basename(self.path)

    @property
    def patch(self) -> str:
        """Its patch in the port's folder."""
        return f"patches/{self.name}@{self.commit}.patch"

    def inside(self, path: str) -> str | None:
        """A path of the repository as this module sees it; None where it lies elsewhere."""
        return path.removeprefix(f"{self.path}/") if path.startswith(f"{self.path}/") else None


def checked_out(tree: Tree) -> tuple[Module, ...]:
    """Submodules that are here as repositories of their own, the innermost first."""
    paths = [item.path for item in Folders(tree).submodules if (tree.root / item.path / ".git").exists()]
    # A name that a shell or git would read as something else gets no patch; its files are left alone.
    return tuple(
        Module(path, head(tree.root / path) if _is_plain(path) else None)
        for path in sorted(paths, key=len, reverse=True)
    )


def holding(path: str, modules: tuple[Module, ...]) -> Module | None:
    """The submodule that a file lies in."""
    return next((module for module in modules if module.inside(path) is not None), None)


def original(module: Module, path: str, tree: Tree, earlier: Patch | None) -> bytes | None:
    """A file as its commit has it; None where it holds other changes than those of our own patch."""
    inside = module.inside(path)
    was = committed(tree.root / module.path, inside) if inside is not None else None
    now = tree.read(path) if path in tree else None
    if was is None or now is None:
        return None
    ours = {change.after for item in earlier.modules for change in item.changes} if earlier is not None else set()
    return was if now == was or digest(now) in ours else None


def patched_files(tree: Tree, earlier: Patch | None) -> Iterator[tuple[str, bytes]]:
    """Files of submodules in which our patch is applied already, as their commits have them."""
    for item in earlier.modules if earlier is not None else ():
        module = Module(item.path, item.commit)
        for change in item.changes:
            was = original(module, change.path, tree, earlier)
            if was is not None and digest(was) == change.before:
                yield change.path, was


def holds_only_ours(root: Path, path: str, earlier: Patch | None) -> bool:
    """Whether all that git sees changed in a submodule is what our patch changes there."""
    for item in earlier.modules if earlier is not None else ():
        if item.path == path:
            meant = {change.path.removeprefix(f"{path}/") for change in item.changes}
            return set(uncommitted(root / path) or ()) <= meant
    return False


def _is_plain(path: str) -> bool:
    return re.fullmatch(r"[\w.+/ -]+", path, re.ASCII) is not None
