"""A Triton dot product in TF32, which the AMD backend rejects for nearly every target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, imports_triton

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches arguments, defaults and assignments that equal a term, such as `input_precision="tf32"`."""
    if b"tf32" not in unit.data or not imports_triton(unit):
        return
    for node in unit.nodes("keyword_argument", "assignment", "default_parameter", "typed_default_parameter"):
        name = next((n for n in map(node.child_by_field_name, ("name", "left")) if n), None)
        value = next((n for n in map(node.child_by_field_name, ("value", "right")) if n), None)
        if name is None or value is None or name.type != "identifier" or unit.is_guarded(node):
            continue
        setting = f"{unit.slice(name)}={unit.slice(value)}".replace("'", '"')
        if setting in context.code.terms:
            yield match_at(unit, node, argument=setting)


detector = Detector(__name__, code="PY502", unit_types=PythonUnit, find=find)
