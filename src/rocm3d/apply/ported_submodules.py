"""Files of submodules with the port's patches applied in memory; the checkouts do not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rocm3d.apply.git_patch import apply_diff, extract_diff
from rocm3d.apply.submodules import original_bytes, submodule_of_patch
from rocm3d.model.patch import FileChange, Patch
from rocm3d.workspace.journal import digest
from rocm3d.workspace.tree import Tree


@dataclass(frozen=True)
class PortedSubmodules:
    """The changes in submodules, with the bytes of each file before and after its patch."""

    changes: tuple[FileChange, ...]
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]


def ported_submodules(patch: Patch, tree: Tree) -> PortedSubmodules:
    """Apply the patches in the port folder. Leaves out files that are not in a patch or differ from its base."""
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    for item in patch.modules:
        patch_data = tree.read(item.file) if item.file in tree else None
        module = submodule_of_patch(item, tree)
        for change in item.changes:
            committed_data = original_bytes(module, change.path, tree, patch)
            diff = extract_diff(module.relative_path(change.path) or "", patch_data or b"")
            if committed_data is None or diff is None or digest(committed_data) != change.before:
                continue
            before[change.path], after[change.path] = committed_data, apply_diff(committed_data, diff)
    return PortedSubmodules(tuple(change for item in patch.modules for change in item.changes), before, after)
