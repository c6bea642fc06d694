"""The submodules of a repository, by its .gitmodules files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace

from rocm3d.manifest.gitmodules import read
from rocm3d.manifest.manifest import Submodule
from rocm3d.workspace.tree import Tree


def repository_submodules(tree: Tree) -> tuple[Submodule, ...]:
    """All submodules, nested ones included, checked out or not. Paths outside the repository are ignored."""
    by_path: dict[str, Submodule] = {}
    pending = [""]
    while pending:
        nested = {item.path: item for item in _listed_in(tree, pending.pop()) if item.path not in by_path}
        by_path |= nested
        pending += nested
    return tuple(by_path.values())


def _listed_in(tree: Tree, folder: str) -> Iterator[Submodule]:
    path = posixpath.join(folder, ".gitmodules")
    data = tree.read(path) if path in tree else None
    for submodule in read(path, data or b"").submodules:
        if not (relative := posixpath.normpath(submodule.path)).startswith(("/", "..")) and relative != ".":
            yield replace(submodule, path=posixpath.join(folder, relative))
