"""A module-level import of NVIDIA's management library (NVML), or of a package that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.package_imports import package_of_import, required_imports
from rocm3d.scan.prefilter import imports_term
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first import of each module among the terms, outside of try, conditions and functions."""
    reported = set()
    for imported in required_imports(unit):
        module = imported.module.split(".")[0]
        if module in context.code.terms and module not in reported:
            reported.add(module)
            owned = package_of_import(context.knowledge, imported)
            match = match_at(unit, imported.node, module=module)
            yield Match(match.line, match.column, match.facts, owned[1].id if owned else None)


detector = Detector(__name__, code="PY401", unit_types=PythonUnit, find=find, prefilter=imports_term)
