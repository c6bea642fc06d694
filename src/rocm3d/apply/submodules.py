"""Checked-out submodules: their commits, and their files as committed.

Edits inside a submodule cannot be committed with the outer repository. They become a patch for exactly that commit,
which install.sh applies. The checkout itself is not changed. In a copy for a port, which has no data of git, the record
of the copy has the commits, and the files are edited, too.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocm3d.apply.installable_folders import InstallableFolders
from rocm3d.model.patch import Patch, SubmodulePatch
from rocm3d.workspace.copy_record import CopyRecord, read_copy_record
from rocm3d.workspace.git import committed_file, head_commit, uncommitted_paths
from rocm3d.workspace.journal import UndoJournal, digest
from rocm3d.workspace.tree import Tree


@dataclass(frozen=True)
class CheckedOutSubmodule:
    """A submodule that is checked out; `commit` is None if git does not report it or its path is not shell-safe.

    `recorded` are digests of its committed files by path, if the copy has a record instead of git's data.
    """

    path: str
    commit: str | None
    recorded: Mapping[str, str] | None = None

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
    """Submodules with their own .git or in the record of a copy, innermost first."""
    record = read_copy_record(tree.root)
    modules = (_checked_out(tree, item.path, record) for item in InstallableFolders(tree).submodules)
    return tuple(sorted(filter(None, modules), key=lambda module: (-len(module.path), module.path)))


def _checked_out(tree: Tree, path: str, record: CopyRecord | None) -> CheckedOutSubmodule | None:
    # A path that a shell or git could misread gets no patch, and its files are not edited.
    is_safe = _is_shell_safe(path)
    if (tree.root / path / ".git").exists():
        return CheckedOutSubmodule(path, head_commit(tree.root / path) if is_safe else None)
    copied = record.submodule(path) if record is not None else None
    if copied is None:
        return None
    return CheckedOutSubmodule(path, copied.commit if is_safe and copied.commit else None, copied.files)


def find_submodule(path: str, modules: tuple[CheckedOutSubmodule, ...]) -> CheckedOutSubmodule | None:
    """The submodule that contains the file."""
    return next((module for module in modules if module.relative_path(path) is not None), None)


def original_bytes(module: CheckedOutSubmodule, path: str, tree: Tree, earlier: Patch | None) -> bytes | None:
    """The committed bytes of a file; None if the file has changes that are not from our own patch."""
    relative = module.relative_path(path)
    committed_data = _committed_data(module, relative, tree) if relative is not None else None
    current_data = tree.read(path) if path in tree else None
    if committed_data is None or current_data is None:
        return None
    port_digests = (
        {change.after for submodule_patch in earlier.modules for change in submodule_patch.changes}
        if earlier is not None
        else set()
    )
    return committed_data if current_data == committed_data or digest(current_data) in port_digests else None


def _committed_data(module: CheckedOutSubmodule, relative: str, tree: Tree) -> bytes | None:
    if module.recorded is None:
        return committed_file(tree.root / module.path, relative)
    path, recorded = f"{module.path}/{relative}", module.recorded.get(relative)
    journal = UndoJournal.open(tree.root)
    originals = (
        tree.read(path) if path in tree else None,
        journal.original(path) if path in journal.entries else None,
    )
    return next((data for data in originals if data is not None and digest(data) == recorded), None)


def patched_files(tree: Tree, earlier: Patch | None) -> Iterator[tuple[str, bytes]]:
    """Paths and committed bytes of submodule files to which our patch is already applied."""
    for submodule_patch in earlier.modules if earlier is not None else ():
        module = submodule_of_patch(submodule_patch, tree)
        for change in submodule_patch.changes:
            committed_data = original_bytes(module, change.path, tree, earlier)
            if committed_data is not None and digest(committed_data) == change.before:
                yield change.path, committed_data


def submodule_of_patch(patch: SubmodulePatch, tree: Tree) -> CheckedOutSubmodule:
    """The submodule that a patch is for, at its commit."""
    record = None if (tree.root / patch.path / ".git").exists() else read_copy_record(tree.root)
    copied = record.submodule(patch.path) if record is not None else None
    recorded = copied.files if copied is not None and copied.commit == patch.commit else None
    return CheckedOutSubmodule(patch.path, patch.commit, recorded)


def has_only_port_changes(root: Path, path: str, earlier: Patch | None) -> bool:
    """Whether our patch accounts for all uncommitted changes in the submodule."""
    for submodule_patch in earlier.modules if earlier is not None else ():
        if submodule_patch.path == path:
            port_paths = {change.path.removeprefix(f"{path}/") for change in submodule_patch.changes}
            return set(uncommitted_paths(root / path) or ()) <= port_paths
    return False


def _is_shell_safe(path: str) -> bool:
    return re.fullmatch(r"[\w.+/ -]+", path, re.ASCII) is not None
