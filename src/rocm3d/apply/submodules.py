"""Checked-out submodules: their commits, and their files as committed.

Edits inside a submodule cannot be committed with the outer repository. They become a patch for exactly that commit,
which install.sh applies. The checkout itself is not changed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocm3d.apply.installable_folders import InstallableFolders
from rocm3d.model.patch import Patch
from rocm3d.workspace.git import committed_file, head_commit, uncommitted_paths
from rocm3d.workspace.journal import digest
from rocm3d.workspace.tree import Tree


@dataclass(frozen=True)
class CheckedOutSubmodule:
    """A submodule that is checked out; `commit` is None if git does not report it or its path is not shell-safe."""

    path: str
    commit: str | None

    @property
    def name(self) -> str:
        """The last part of its path; install.sh and patch files use it."""
        return posixpath.basename(self.path)

    @property
    def patch_path(self) -> str:
        """The path of its patch, relative to the port folder."""
        return f"patches/{self.name}@{self.commit}.patch"

    def relative_path(self, path: str) -> str | None:
        """The path relative to the submodule; None for a path outside it."""
        return path.removeprefix(f"{self.path}/") if path.startswith(f"{self.path}/") else None


def checked_out_submodules(tree: Tree) -> tuple[CheckedOutSubmodule, ...]:
    """Submodules with their own .git, innermost first."""
    paths = [
        submodule.path
        for submodule in InstallableFolders(tree).submodules
        if (tree.root / submodule.path / ".git").exists()
    ]
    # A path that a shell or git could misread gets no patch, and its files are not edited.
    return tuple(
        CheckedOutSubmodule(path, head_commit(tree.root / path) if _is_shell_safe(path) else None)
        for path in sorted(paths, key=len, reverse=True)
    )


def find_submodule(path: str, modules: tuple[CheckedOutSubmodule, ...]) -> CheckedOutSubmodule | None:
    """The submodule that contains the file."""
    return next((module for module in modules if module.relative_path(path) is not None), None)


def original_bytes(module: CheckedOutSubmodule, path: str, tree: Tree, earlier: Patch | None) -> bytes | None:
    """The committed bytes of a file; None if the file has changes that are not from our own patch."""
    relative = module.relative_path(path)
    committed_data = committed_file(tree.root / module.path, relative) if relative is not None else None
    current_data = tree.read(path) if path in tree else None
    if committed_data is None or current_data is None:
        return None
    port_digests = (
        {change.after for submodule_patch in earlier.modules for change in submodule_patch.changes}
        if earlier is not None
        else set()
    )
    return committed_data if current_data == committed_data or digest(current_data) in port_digests else None


def patched_files(tree: Tree, earlier: Patch | None) -> Iterator[tuple[str, bytes]]:
    """Paths and committed bytes of submodule files to which our patch is already applied."""
    for submodule_patch in earlier.modules if earlier is not None else ():
        module = CheckedOutSubmodule(submodule_patch.path, submodule_patch.commit)
        for change in submodule_patch.changes:
            committed_data = original_bytes(module, change.path, tree, earlier)
            if committed_data is not None and digest(committed_data) == change.before:
                yield change.path, committed_data


def has_only_port_changes(root: Path, path: str, earlier: Patch | None) -> bool:
    """Whether our patch accounts for all uncommitted changes in the submodule."""
    for submodule_patch in earlier.modules if earlier is not None else ():
        if submodule_patch.path == path:
            port_paths = {change.path.removeprefix(f"{path}/") for change in submodule_patch.changes}
            return set(uncommitted_paths(root / path) or ()) <= port_paths
    return False


def _is_shell_safe(path: str) -> bool:
    return re.fullmatch(r"[\w.+/ -]+", path, re.ASCII) is not None
