"""A module-level import of xformers: it has wheels for few ROCm releases, and torch's attention can replace it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Match, DetectorContext, match_at
from rocm3d.scan.imported import required_imports, package_of_import
from rocm3d.scan.needs import imports_term
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, look: DetectorContext) -> Iterator[Match]:
    """Matches the first import of a module among the terms, outside of try, conditions and functions."""
    for found in required_imports(unit):
        if found.module.split(".")[0] in look.code.terms:
            owned = package_of_import(look.knowledge, found)
            place = match_at(unit, found.node, module=found.module)
            yield Match(place.line, place.column, place.facts, owned[1].id if owned else None)
            return


detector = Detector(__name__, code="PY102", unit_types=PythonUnit, find=find, prefilter=imports_term)
