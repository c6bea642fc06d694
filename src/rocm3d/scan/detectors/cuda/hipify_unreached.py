"""A file with CUDA code whose suffix torch's hipify ignores: it is neither translated nor copied."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.directives import blanked
from rocm3d.syntax.hipify_names import hip_path

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEVICE = re.compile(rb"\b__(?:device|global|shared|constant)__\b|\bthreadIdx\b|<<<")
_TRANSLATED = re.compile(rb"\bcuda[A-Z]\w*|\bcub::|\b(?:at|c10)::cuda\b|\bcurand\w*|#\s*include\s*<(?:cuda|cub/)[^>]*>")


def find(unit: CudaUnit, context: DetectorContext) -> Iterator[Match]:
    """One match per file: the first name that hipify would translate, or device code in a folder that it renames."""
    path = PurePosixPath(unit.path)
    if path.suffix not in context.code.terms:
        return
    text = blanked(unit.data)
    output = hip_path(unit.path, context.knowledge.codes["CU508"].terms)
    renamed = PurePosixPath(output).parent != path.parent
    for pattern in (_TRANSLATED, _DEVICE) if renamed else (_TRANSLATED,):
        first_match = next((m for m in pattern.finditer(text) if unit.is_shared(m.start())), None)
        if first_match is not None:
            line, column = unit.text.position(first_match.start())
            yield Match(line, column, {"path": unit.path, "why": f"{path.suffix}: {context.code.terms[path.suffix]}"})
            return


detector = Detector(
    __name__,
    code="CU506",
    unit_types=CudaUnit,
    find=find,
    prefilter=(b"cuda", b"cub", b"curand", b"__", b"threadIdx", b"<<<"),
)
