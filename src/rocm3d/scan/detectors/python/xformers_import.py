"""A module-level import of xformers: it has wheels for few ROCm releases, and torch's attention can replace it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.scan.imported import needed, owner
from rocm3d.scan.needs import an_imported_term
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, look: Look) -> Iterator[Hit]:
    """Matches the first import of a module among the terms, outside of try, conditions and functions."""
    for found in needed(unit):
        if found.module.split(".")[0] in look.code.terms:
            owned = owner(look.knowledge, found)
            place = hit(unit, found.node, module=found.module)
            yield Hit(place.line, place.column, place.facts, owned[1].id if owned else None)
            return


detector = Detector(__name__, code="PY102", reads=PythonUnit, find=find, needs=an_imported_term)
