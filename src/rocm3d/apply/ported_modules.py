"""Files of submodules with the port's patches applied in memory; the checkouts do not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.apply.git_patch import diff_of, patched
from rocm3d.apply.modules import Module, original
from rocm3d.workspace.journal import digest

if TYPE_CHECKING:
    from rocm3d.model.patch import FileChange, Patch
    from rocm3d.workspace.tree import Tree


@dataclass(frozen=True)
class PortedModules:
    """The changes in submodules, with the bytes of each file before and after its patch."""

    changes: tuple[FileChange, ...]
    before: Mapping[str, bytes]
    after: Mapping[str, bytes]


def ported_modules(patch: Patch, tree: Tree) -> PortedModules:
    """Apply the patches in the port folder. Leaves out files that are not in a patch or differ from its base."""
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    for item in patch.modules:
        text = tree.read(item.file) if item.file in tree else None
        module = Module(item.path, item.commit)
        for change in item.changes:
            was = original(module, change.path, tree, patch)
            diff = diff_of(module.inside(change.path) or "", text or b"")
            if was is None or diff is None or digest(was) != change.before:
                continue
            before[change.path], after[change.path] = was, patched(was, diff)
    return PortedModules(tuple(change for item in patch.modules for change in item.changes), before, after)
