"""GLM among the include folders of an extension: torch's hipify follows them and translates only a part of GLM."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.scan.detector import Detector, DetectorContext, Match
from rocm3d.scan.extensions import torch_extensions
from rocm3d.scan.prefilter import contains_term
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

# A script with ROCm support handles GLM itself.
_ROCM_SUPPORT = re.compile(rb"\bversion\.hip\b|\bROCM_HOME\b|\bIS_HIP_EXTENSION\b|hipify|is_rocm", re.IGNORECASE)


def find(unit: PythonUnit, context: DetectorContext) -> Iterator[Match]:
    """Matches extensions with a GLM include folder and device sources, or sources that cannot be read."""
    if _ROCM_SUPPORT.search(unit.data):
        return
    for extension in torch_extensions(unit):
        folders = [
            folder for folder in extension.include_dirs if set(PurePosixPath(folder).parts) & context.code.terms.keys()
        ]
        if folders and (not extension.sources or any(source.endswith((".cu", "*")) for source in extension.sources)):
            yield Match(extension.location.line, extension.location.column, {"path": folders[0]})


detector = Detector(__name__, code="CU509", unit_types=PythonUnit, find=find, prefilter=contains_term)
