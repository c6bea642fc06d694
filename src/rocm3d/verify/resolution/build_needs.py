"""What a build asks for before it begins: build-system.requires, setup_requires, and what setup.py imports."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocm3d.manifest import pyproject, setup_py
from rocm3d.verify.resolution.sets import Line, line_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.manifest.manifest import Mention
    from rocm3d.verify.resolution.build_source import BuildFiles

_DECLARED = ("build-system", "setup_requires")
_PLAIN = (Line("setuptools", "setuptools"),)  # what a build without a pyproject.toml is given (PEP 518)


@dataclass(frozen=True)
class BuildNeeds:
    """Distributions to build with, and the top-level modules that setup.py imports."""

    lines: tuple[Line, ...]
    modules: frozenset[str]

    def wants(self, names: Iterable[str], modules: Iterable[str]) -> str:
        """Which of these it declares or imports; empty where none."""
        declared = [line.name for line in self.lines if line.name in set(names)]
        imported = [module for module in sorted(self.modules) if module in set(modules)]
        if declared:
            return f"its build asks for {', '.join(declared)}"
        return f"its setup.py imports {', '.join(imported)}" if imported else ""


def build_needs(files: BuildFiles) -> BuildNeeds:
    """Read from the files alone; nothing is run."""
    mentions: list[Mention] = []
    if files.pyproject is not None:
        mentions += pyproject.read("pyproject.toml", files.pyproject).mentions
    if files.setup is not None:
        mentions += setup_py.read("setup.py", files.setup).mentions
    wanted = (line_of(_plain(item)) for item in mentions if item.section in _DECLARED)
    lines = tuple(dict.fromkeys(line for line in wanted if line is not None))
    return BuildNeeds(lines or _PLAIN, _imports(files.setup or b""))


def _plain(mention: Mention) -> Mention:
    """As if it stood in a requirements file: a build's needs are all there is to install here."""
    return replace(mention, section="")


def _imports(setup: bytes) -> frozenset[str]:
    """Modules that are imported as the file runs, functions and guarded branches included."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the file's escapes, not ours
            tree = ast.parse(setup)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return frozenset(names)
