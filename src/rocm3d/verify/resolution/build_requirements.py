"""Build requirements of a source tree: build-system.requires, setup_requires and the imports of setup.py."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocm3d.manifest import pyproject, setup_py
from rocm3d.verify.resolution.sets import RequirementLine, to_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.manifest.manifest import Mention
    from rocm3d.verify.resolution.build_source import BuildFiles

_BUILD_SECTIONS = ("build-system", "setup_requires")
_DEFAULT_LINES = (RequirementLine("setuptools", "setuptools"),)  # the default without a pyproject.toml (PEP 518)


@dataclass(frozen=True)
class BuildRequirements:
    """Required distributions, and the top-level modules that setup.py imports."""

    lines: tuple[RequirementLine, ...]
    modules: frozenset[str]

    def describe_use(self, names: Iterable[str], modules: Iterable[str]) -> str:
        """A text that names which of these the build declares or imports; empty if none."""
        declared = [line.name for line in self.lines if line.name in set(names)]
        imported = [module for module in sorted(self.modules) if module in set(modules)]
        if declared:
            return f"its build requires {', '.join(declared)}"
        return f"its setup.py imports {', '.join(imported)}" if imported else ""


def read_build_requirements(files: BuildFiles) -> BuildRequirements:
    """Reads the files; runs nothing."""
    mentions: list[Mention] = []
    if files.pyproject is not None:
        mentions += pyproject.read("pyproject.toml", files.pyproject).mentions
    if files.setup is not None:
        mentions += setup_py.read("setup.py", files.setup).mentions
    candidates = (to_line(_without_section(item)) for item in mentions if item.section in _BUILD_SECTIONS)
    lines = tuple(dict.fromkeys(line for line in candidates if line is not None))
    return BuildRequirements(lines or _DEFAULT_LINES, _imported_modules(files.setup or b""))


def _without_section(mention: Mention) -> Mention:
    """Without its section, because `to_line` drops mentions of build sections."""
    return replace(mention, section="")


def _imported_modules(setup: bytes) -> frozenset[str]:
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
