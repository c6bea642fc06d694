"""torch.compile in a mode that captures graphs or autotunes kernels. The code's terms list the modes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.python import PythonUnit, keyword_argument, plain_strings

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches calls of compile (function, method or decorator) with one of the modes."""
    if b"compile" not in unit.data:
        return
    for call in unit.nodes("call"):
        function, mode = call.child_by_field_name("function"), keyword_argument(unit, call, "mode")
        if function is None or mode is None or unit.slice(function).rsplit(".", 1)[-1] != "compile":
            continue
        for node, text in plain_strings(unit, mode):
            if text in context.code.terms and not unit.is_guarded(node):
                yield match_at(unit, node, mode=text, why=context.code.terms[text])


detector = Detector(__name__, code="PY301", unit_types=PythonUnit, find=find, prefilter=contains_term)
