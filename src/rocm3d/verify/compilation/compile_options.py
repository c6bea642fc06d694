"""Options for compiling extensions, shared by the probes of levels compile and nvidia."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.verify.compilation.cuda_session import CudaUnitResult
    from rocm3d.verify.compilation.session import CompileReport


def ignore_progress(message: str) -> None:
    """Drops progress messages."""


@dataclass
class CompileOptions:
    """`disabled_reason`: why nothing is compiled; empty if it is. `hip_headers`: include folder of a real ROCm.

    `interpreter`: a Python with torch. The results are what one probe compiled, for the next one.
    """

    disabled_reason: str = "not compiled yet (takes minutes, runs setup.py). Run rocm3d verify . --level compile"
    hip_headers: Path | None = None
    interpreter: Path | None = None
    progress: Callable[[str], None] = ignore_progress
    hip_result: CompileReport | None = None
    nvcc_results: tuple[CudaUnitResult, ...] | None = None
