"""CUDA graphs: hipify translates the calls, but HIP may silently drop captured operations and lacks some overloads."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Match, DetectorContext, match_at
from rocm3d.scan.needs import contains_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

_FORMS = {"three": 3, "four": 4, "five": 5}
_START = "cudaStreamBeginCapture"


def find(unit: CudaUnit, look: DetectorContext) -> Iterator[Match]:
    """Matches the first capture of a file and calls in a form that HIP lacks.

    Without a capture, the first other graph call is a note.
    """
    seen: set[str] = set()
    rest: list[tuple[str, Match]] = []
    for call in unit.nodes("call_expression"):
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        name = "" if function is None else unit.head(function).lstrip(":")
        if arguments is None or name not in look.code.terms or not unit.is_shared(call.start_byte):
            continue
        why = look.code.terms[name]
        given = sum(item.type != "comment" for item in arguments.named_children)
        form = re.match(r"the (\w+)-argument form", why)
        if form is not None and _FORMS.get(form.group(1), given) != given:
            yield match_at(unit, call, call=f"{name} ({why})")
        elif name not in seen:
            seen.add(name)
            found = match_at(unit, call, call=name)
            if name == _START:
                yield found
            else:
                rest.append((name, replace(found, severity="note")))
    if rest and _START not in seen:
        yield rest[0][1]


detector = Detector(__name__, code="CU407", unit_types=CudaUnit, find=find, prefilter=contains_term)
