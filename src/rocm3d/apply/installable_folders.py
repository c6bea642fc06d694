"""Folders of the repository that pip can install, including submodules."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from functools import cached_property

from rocm3d.manifest.manifest import Submodule
from rocm3d.manifest.submodules import repository_submodules
from rocm3d.workspace.tree import Tree

_BUILD_FILES = ("setup.py", "pyproject.toml", "setup.cfg")


@dataclass(frozen=True)
class InstallableFolders:
    tree: Tree

    @cached_property
    def installable(self) -> frozenset[str]:
        """Folders with a setup.py, pyproject.toml or setup.cfg; `.` is the root."""
        split_paths = (posixpath.split(path) for path in self.tree.paths())
        return frozenset(folder or "." for folder, name in split_paths if name in _BUILD_FILES)

    @cached_property
    def submodules(self) -> tuple[Submodule, ...]:
        """All submodules, nested ones included, checked out or not."""
        return repository_submodules(self.tree)

    def resolve(self, path: str) -> str | None:
        """The folder's path in the repository: as written, inside a submodule, or the only folder of that name."""
        folder = posixpath.normpath(path)
        if folder == ".":
            return "." if self.is_project else None
        if folder in self.installable or self._is_in_submodule(folder):
            return folder
        name = posixpath.basename(folder)
        same_name = {item for item in self.installable if posixpath.basename(item) == name}
        same_name |= {
            item.path for item in self.submodules if posixpath.basename(posixpath.normpath(item.path)) == name
        }
        return same_name.pop() if len(same_name) == 1 else None

    @cached_property
    def is_project(self) -> bool:
        """Whether the repository itself can be installed: a pyproject.toml alone may only configure tools."""
        if "setup.py" in self.tree:
            return True
        text = self.tree.read("pyproject.toml") or b"" if "pyproject.toml" in self.tree else b""
        return b"[build-system]" in text and (b"[project]" in text or b"[tool.poetry]" in text)

    def _is_in_submodule(self, path: str) -> bool:
        inside = (posixpath.normpath(item.path) for item in self.submodules)
        return any(path == item or path.startswith(f"{item}/") for item in inside)
