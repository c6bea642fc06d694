"""A build that asks for CUDA_HOME: under ROCm torch it is None, so the extension is refused or silently CPU-only."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_GATE = re.compile(r"(\w+\.)*CUDA_HOME\s+is\s+(not\s+)?None$")


def find(unit: PythonUnit, look: Look) -> Iterator[Hit]:
    """Comparisons of CUDA_HOME with None that know nothing of ROCm."""
    if not unit.builds_extensions:
        return
    for node in unit.nodes("comparison_operator"):
        text = unit.slice(node)
        if _GATE.match(text) and not unit.is_guarded(node):
            yield hit(unit, node, gate=text)


detector = Detector(__name__, code="BLD201", reads=PythonUnit, find=find)
