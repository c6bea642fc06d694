"""What a program imports from others, and which package record owns it."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.syntax.python_names import firm_imports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.package import Package
    from rocm3d.syntax.python import PythonUnit
    from rocm3d.syntax.python_names import Import

_ASIDE = re.compile(r"(^|/)(tests?|docs?|examples?|samples?|benchmarks?)/|(^|/)(test_[^/]*|conftest)\.py$")


def needed(unit: PythonUnit) -> Iterator[Import]:
    """Imports without which the program does not load.

    Tests and examples import what the program does, or the program; a file inside a package may import that package.
    """
    if _ASIDE.search(unit.path):
        return
    folders = set(PurePosixPath(unit.path).parts[:-1])
    yield from (found for found in firm_imports(unit) if found.module.split(".")[0] not in folders)


def owner(knowledge: Knowledge, found: Import) -> tuple[str, Package] | None:
    """The package behind an import, with the module to speak of: the longest name that a record has, first by id."""
    best: tuple[str, Package] | None = None
    for package in sorted(knowledge.packages.values(), key=lambda item: item.id):
        for name in package.imports:
            if f"{found.name}.".startswith(f"{name}.") and (best is None or len(name) > len(best[0])):
                best = name, package
    if best is None:
        return None
    return max(best[0], found.module, key=len), best[1]
