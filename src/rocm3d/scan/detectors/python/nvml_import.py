"""A module-level import of NVIDIA's management library (NVML), or of a package that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.scan.imported import needed, owner
from rocm3d.scan.needs import an_imported_term
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, look: Look) -> Iterator[Hit]:
    """Matches the first import of each module among the terms, outside of try, conditions and functions."""
    seen = set()
    for found in needed(unit):
        module = found.module.split(".")[0]
        if module in look.code.terms and module not in seen:
            seen.add(module)
            owned = owner(look.knowledge, found)
            place = hit(unit, found.node, module=module)
            yield Hit(place.line, place.column, place.facts, owned[1].id if owned else None)


detector = Detector(__name__, code="PY401", reads=PythonUnit, find=find, needs=an_imported_term)
