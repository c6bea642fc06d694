"""cuDNN disabled for the whole program: on ROCm this setting disables MIOpen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import ImportedNames, PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches `torch.backends.cudnn.enabled = False`. The context manager for a single call is the recommended fix."""
    if b"cudnn" not in unit.data:
        return
    names = ImportedNames(unit)
    for node in unit.nodes("assignment"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if right is None or right.type != "false" or unit.is_guarded(node):
            continue
        if names.full_name(left).endswith("backends.cudnn.enabled"):
            yield match_at(unit, node)


detector = Detector(__name__, code="PY208", unit_types=PythonUnit, find=find)
