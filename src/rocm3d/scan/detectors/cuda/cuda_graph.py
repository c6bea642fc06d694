"""CUDA graphs: hipify translates the calls, but HIP may silently drop captured operations and lacks some overloads."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match, match_at
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_ARGUMENT_COUNTS = {"three": 3, "four": 4, "five": 5}
_START = "cudaStreamBeginCapture"


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches the first capture of a file and calls in a form that HIP lacks.

    Without a capture, the first other graph call is a note.
    """
    reported: set[str] = set()
    other_calls: list[tuple[str, Match]] = []
    for call in unit.nodes("call_expression"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        name = "" if function is None else unit.head(function).lstrip(":")
        if arguments is None or name not in context.code.terms or not unit.is_shared(call.start_byte):
            continue
        why = context.code.terms[name]
        argument_count = sum(node.type != "comment" for node in arguments.named_children)
        form = re.match(r"the (\w+)-argument form", why)
        if form is not None and _ARGUMENT_COUNTS.get(form.group(1), argument_count) != argument_count:
            yield match_at(unit, call, call=f"{name} ({why})")
        elif name not in reported:
            reported.add(name)
            match = match_at(unit, call, call=name)
            if name == _START:
                yield match
            else:
                other_calls.append((name, replace(match, severity="note")))
    if other_calls and _START not in reported:
        yield other_calls[0][1]


detector = Detector(__name__, code="CU407", unit_types=CudaUnit, find=find, prefilter=contains_term)
