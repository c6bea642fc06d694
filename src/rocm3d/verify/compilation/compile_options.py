"""Options for compiling extensions, shared by the probes of levels compile and nvidia."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rocm3d.model.duration import describe_duration

if TYPE_CHECKING:
    from rocm3d.verify.compilation.cuda_session import CudaUnitResult
    from rocm3d.verify.compilation.session import CompileReport


RESUME_COMMAND = "rocm3d verify . --level compile"


def ignore_progress(message: str) -> None:
    """Drops progress messages."""


@dataclass
class Budget:
    """Time for all compiles of a repository together; it runs from the first use on. None: no limit."""

    seconds: float | None = None
    _end: float = math.inf

    def start(self) -> None:
        """Let the time run, once."""
        if self.seconds is not None and self._end == math.inf:
            self._end = time.monotonic() + self.seconds

    @property
    def remaining(self) -> float:
        """Seconds that are left; not negative."""
        return max(self._end - time.monotonic(), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.remaining == 0

    @property
    def reason(self) -> str:
        """Why the rest was not compiled, and how to go on."""
        return f"the budget of {describe_duration(self.seconds or 0)} ended. Continue with {RESUME_COMMAND}"


def refuse(question: str) -> bool:  # noqa: ARG001
    """The answer where nobody can be asked."""
    return False


@dataclass
class CompileOptions:
    """`disabled_reason`: why nothing is compiled; empty if it is. `hip_headers`: include folder of a real ROCm.

    `interpreter`: a Python with torch. `sandbox`: `required` compiles nothing without a sandbox unless `confirm`, which
    gets a question, returns True; `preferred` then uses the rights of the user. `nvcc`: also compile the CUDA side, if
    nvcc is installed. The results are what one probe compiled, for the next one.
    """

    disabled_reason: str = f"not compiled yet (takes minutes, runs setup.py). Run {RESUME_COMMAND}"
    hip_headers: Path | None = None
    interpreter: Path | None = None
    progress: Callable[[str], None] = ignore_progress
    sandbox: Literal["required", "preferred"] = "preferred"
    confirm: Callable[[str], bool] = refuse
    budget: Budget = field(default_factory=Budget)
    nvcc: bool = True
    hip_result: CompileReport | None = None
    nvcc_results: tuple[CudaUnitResult, ...] | None = None
