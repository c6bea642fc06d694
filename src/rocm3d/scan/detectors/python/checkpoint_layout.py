"""Weights loaded beside a library whose replacement stores them otherwise; which ones is data (codes.toml, terms)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.scan.imported import owner
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.python_names import imports, keyword

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, look: Look) -> Iterator[Hit]:
    """The first load of a state in a file that imports such a library. A strict load at least fails: a warning."""
    if b"load_state_dict" not in unit.data:
        return
    modules = [found for found in imports(unit) if found.module.split(".")[0] in look.code.terms]
    if not modules:
        return
    for call in unit.nodes("call"):
        function = call.child_by_field_name("function")
        if function is None or not unit.slice(function).endswith(".load_state_dict") or unit.is_guarded(call):
            continue
        owned = owner(look.knowledge, modules[0])
        package = owned[1].id if owned else None
        strict = keyword(unit, call, "strict")
        place = hit(unit, call, package=package or modules[0].module.split(".")[0])
        loose = strict is not None and strict.type == "false"
        yield Hit(place.line, place.column, place.facts, package, None if loose else "warning")
        return


detector = Detector(__name__, code="PY405", reads=PythonUnit, find=find)
