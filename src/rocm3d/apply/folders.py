"""Folders of the repository that pip can install, including submodules."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from rocm3d.manifest.gitmodules import read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.manifest.manifest import Submodule
    from rocm3d.workspace.tree import Tree

_MARKS = ("setup.py", "pyproject.toml", "setup.cfg")


@dataclass(frozen=True)
class Folders:
    tree: Tree

    @cached_property
    def installable(self) -> frozenset[str]:
        """Folders with a setup.py, pyproject.toml or setup.cfg; `.` is the root."""
        found = (posixpath.split(path) for path in self.tree.paths())
        return frozenset(folder or "." for folder, name in found if name in _MARKS)

    @cached_property
    def submodules(self) -> tuple[Submodule, ...]:
        """All submodules, nested ones included, checked out or not. Paths outside the repository are ignored."""
        found: dict[str, Submodule] = {}
        around = [""]
        while around:
            folder = around.pop()
            inside = {item.path: item for item in self._modules_of(folder) if item.path not in found}
            found |= inside
            around += inside
        return tuple(found.values())

    def _modules_of(self, folder: str) -> Iterator[Submodule]:
        path = posixpath.join(folder, ".gitmodules")
        data = self.tree.read(path) if path in self.tree else None
        for item in read(path, data or b"").submodules:
            if not (inside := posixpath.normpath(item.path)).startswith(("/", "..")) and inside != ".":
                yield replace(item, path=posixpath.join(folder, inside))

    def place(self, path: str) -> str | None:
        """The folder's path in the repository: as written, inside a submodule, or the only folder of that name."""
        wanted = posixpath.normpath(path)
        if wanted == ".":
            return "." if self.is_project else None
        if wanted in self.installable or self._in_submodule(wanted):
            return wanted
        name = posixpath.basename(wanted)
        named = {item for item in self.installable if posixpath.basename(item) == name}
        named |= {item.path for item in self.submodules if posixpath.basename(posixpath.normpath(item.path)) == name}
        return named.pop() if len(named) == 1 else None

    @cached_property
    def is_project(self) -> bool:
        """Whether the repository itself can be installed: a pyproject.toml alone may only configure tools."""
        if "setup.py" in self.tree:
            return True
        text = self.tree.read("pyproject.toml") or b"" if "pyproject.toml" in self.tree else b""
        return b"[build-system]" in text and (b"[project]" in text or b"[tool.poetry]" in text)

    def _in_submodule(self, path: str) -> bool:
        inside = (posixpath.normpath(item.path) for item in self.submodules)
        return any(path == item or path.startswith(f"{item}/") for item in inside)
