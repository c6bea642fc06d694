"""Options for compiling extensions, shared by the probes of levels compile and nvidia."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


def _ignore_progress(message: str) -> None:
    """Drops progress messages."""


@dataclass(frozen=True)
class CompileOptions:
    """`disabled_reason`: why nothing is compiled; empty if it is. `hip_headers`: include folder of a real ROCm.

    `interpreter`: a Python with torch. `results` caches what one probe compiled for the next.
    """

    disabled_reason: str = "not compiled yet (takes minutes, runs setup.py). Run rocm3d verify . --level compile"
    hip_headers: Path | None = None
    interpreter: Path | None = None
    progress: Callable[[str], None] = _ignore_progress
    results: dict[str, object] = field(default_factory=dict, compare=False)
