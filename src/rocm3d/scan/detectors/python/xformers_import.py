"""A module-level import of xformers: it has wheels for few ROCm releases, and torch's attention can replace it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.package_imports import package_of_import, required_imports
from rocm3d.scan.prefilter import imports_term
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first import of a module among the terms, outside of try, conditions and functions."""
    for imported in required_imports(unit):
        if imported.module.split(".")[0] in context.code.terms:
            owned = package_of_import(context.knowledge, imported)
            match = match_at(unit, imported.node, module=imported.module)
            yield Match(match.line, match.column, match.facts, owned[1].id if owned else None)
            return


detector = Detector(__name__, code="PY102", unit_types=PythonUnit, find=find, prefilter=imports_term)
