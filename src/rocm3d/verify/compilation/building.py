"""Whether and with what extensions are compiled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


def _silent(message: str) -> None:
    """Nobody listens."""


@dataclass(frozen=True)
class Building:
    """`refused` says why not; empty: they are. Headers of a real ROCm and a torch may be named from elsewhere.

    `kept` holds what one probe has compiled for the next one.
    """

    refused: str = "compiling takes minutes and runs the build scripts, so it has to be asked for: --level compile"
    hip_headers: Path | None = None
    interpreter: Path | None = None
    told: Callable[[str], None] = _silent
    kept: dict[str, object] = field(default_factory=dict, compare=False)
