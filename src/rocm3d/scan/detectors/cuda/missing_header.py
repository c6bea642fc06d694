"""An include of a CUDA toolkit header that HIP lacks. The code's terms list the headers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.scan.needs import a_term
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """Matches includes of headers among the code's terms."""
    for include in unit.nodes("preproc_include"):
        path = include.child_by_field_name("path")
        if path is None or not unit.is_shared(include.start_byte):
            continue
        header = unit.slice(path).strip('<>"')
        if header in look.code.terms:
            yield hit(unit, include, header=header, why=look.code.terms[header])


detector = Detector(__name__, code="CU201", reads=CudaUnit, find=find, needs=a_term)
