"""A limit of <cfloat> without its include: nvcc's own headers bring it along, HIP's do not.

Only a file that takes nothing from torch is reported, because torch's headers include <cfloat>. One finding for a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, Hit, Look, hit
from rocm3d.syntax.cuda import CudaUnit

if TYPE_CHECKING:
    from collections.abc import Iterator


def find(unit: CudaUnit, look: Look) -> Iterator[Hit]:
    """The first use of a name that the code's terms give to <cfloat>."""
    paths = (include.child_by_field_name("path") for include in unit.nodes("preproc_include"))
    headers = [unit.slice(path).strip('<>"') for path in paths if path is not None]
    enough = tuple(term for term, why in look.code.terms.items() if why == "brings <cfloat> along")
    alone = any(header.startswith("cuda_runtime") for header in headers)
    if not alone or any(header.startswith(enough) for header in headers):
        return  # without cuda_runtime.h it is part of another file, and what stands before it is not known
    for node in unit.nodes("identifier"):
        name = unit.slice(node)
        why = look.code.terms.get(name, "")
        if why == "include <cfloat>" and unit.is_shared(node.start_byte):
            yield hit(unit, node, text=name, why=why)
            return


detector = Detector(__name__, code="CU311", reads=CudaUnit, find=find)
