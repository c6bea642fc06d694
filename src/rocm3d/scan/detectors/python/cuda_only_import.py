"""An import that fails unless a package built for CUDA is installed. knowledge/packages lists the packages.

Only imports that run with the module count. Imports in a function, a try or a condition are optional. The code's terms
name the excluded packages: their import works without CUDA, or another rule reports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.package_imports import package_of_import, required_imports
from rocm3d.scan.prefilter import imports_known_package, known_modules
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.finding import Severity
    from rocm3d.model.package import Package


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first such import of each package in a file."""
    handled = set(context.code.terms)
    for imported in required_imports(unit.truncated_after_imports(known_modules(context))):
        owned = package_of_import(context.knowledge, imported)
        if owned is None or owned[1].id in handled:
            continue
        module, package = owned
        handled.add(package.id)
        match = match_at(unit, imported.node, module=module, package=package.id, purpose=package.purpose)
        severity: Severity = "warning" if _keeps_import_name(package) else "error"
        yield Match(match.line, match.column, match.facts, package.id, severity)


def _keeps_import_name(package: Package) -> bool:
    """Whether an active route installs a package with the same import name."""
    decisions = ("keep", "replace", "build", "substitute", "stub")
    return any(r.import_kept and r.decision in decisions for r in package.routes if r.status == "active")


detector = Detector(__name__, code="PY103", unit_types=PythonUnit, find=find, prefilter=imports_known_package)
