"""Third-party imports of a Python file, and the package records that own them."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.syntax.python import unconditional_imports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.package import Package
    from rocm3d.syntax.python import Import, PythonUnit


def required_imports(unit: PythonUnit) -> Iterator[Import]:
    """Unconditional imports, except those of a package that contains the file itself."""
    folders = set(PurePosixPath(unit.path).parts[:-1])
    yield from (imported for imported in unconditional_imports(unit) if imported.module.split(".")[0] not in folders)


def package_of_import(knowledge: Knowledge, imported: Import) -> tuple[str, Package] | None:
    """The package that owns the longest known prefix of an import, and the module name to report."""
    parts = imported.name.split(".")
    for end in range(len(parts), 0, -1):
        name = ".".join(parts[:end])
        package = knowledge.package_by_import(name)
        if package is not None:
            return max(name, imported.module, key=len), package
    return None
