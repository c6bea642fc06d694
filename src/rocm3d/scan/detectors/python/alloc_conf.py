"""Settings of torch's allocator that were chosen for CUDA: some cause wrong values on AMD GPUs without an error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.syntax.python import PythonUnit, environment_writes, plain_strings, positional_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches values with a harmful setting among the terms. The first harmful setting is the reason of the finding."""
    names = {term for term in context.code.terms if term.isupper()}
    settings = [term for term in context.code.terms if term not in names]
    if not any(setting.encode() in unit.data for setting in settings):
        return
    for value in _values(unit, names):
        for node, text in plain_strings(unit, value):
            used = [option for option in settings if re.search(rf"{re.escape(option)}(?!\s*:\s*[Ff]alse)", text)]
            # Settings whose reason starts with "accepted" are harmless alone. The terms are sorted by harm.
            harmful = [option for option in used if not context.code.terms[option].startswith("accepted")]
            if harmful and not unit.is_guarded(node):
                yield match_at(unit, node, value=text, why=context.code.terms[harmful[0]])


def _values(unit: PythonUnit, names: set[str]) -> Iterator[Node]:
    for name, value, _ in environment_writes(unit):
        if name in names:
            yield value
    for call in unit.nodes("call"):
        function, call_arguments = call.child_by_field_name("function"), positional_arguments(call)
        if function is not None and call_arguments and unit.slice(function).endswith("_set_allocator_settings"):
            yield call_arguments[0]


detector = Detector(__name__, code="PY207", unit_types=PythonUnit, find=find)
