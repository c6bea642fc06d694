"""Build requirements of a source tree: build-system.requires, setup_requires and the imports of setup.py."""

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
_PLAIN = (Line("setuptools", "setuptools"),)  # the default without a pyproject.toml (PEP 518)


@dataclass(frozen=True)
class BuildNeeds:
    """Required distributions, and the top-level modules that setup.py imports."""

    lines: tuple[Line, ...]
    modules: frozenset[str]

    def wants(self, names: Iterable[str], modules: Iterable[str]) -> str:
        """A text that names which of these the build declares or imports; empty if none."""
        declared = [line.name for line in self.lines if line.name in set(names)]
        imported = [module for module in sorted(self.modules) if module in set(modules)]
        if declared:
            return f"its build requires {', '.join(declared)}"
        return f"its setup.py imports {', '.join(imported)}" if imported else ""


def build_needs(files: BuildFiles) -> BuildNeeds:
    """Reads the files; runs nothing."""
    mentions: list[Mention] = []
    if files.pyproject is not None:
        mentions += pyproject.read("pyproject.toml", files.pyproject).mentions
    if files.setup is not None:
        mentions += setup_py.read("setup.py", files.setup).mentions
    wanted = (line_of(_plain(item)) for item in mentions if item.section in _DECLARED)
    lines = tuple(dict.fromkeys(line for line in wanted if line is not None))
    return BuildNeeds(lines or _PLAIN, _imports(files.setup or b""))


def _plain(mention: Mention) -> Mention:
    """Without its section, because `to_line` drops mentions of build sections."""
    return replace(mention, section="")


def _imports(setup: bytes) -> frozenset[str]:
    """Top-level names of all imported modules, also of imports inside functions and branches."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escape sequences in the parsed file
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
