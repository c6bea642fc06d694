"""The target's environment: its interpreter and the cached results of backend checks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.backend_check import BackendCheck

SECONDS = 300.0  # kernels may be compiled on their first call


@dataclass(frozen=True)
class Environment:
    """`unavailable_reason`: why no check can run; empty if it can. `cached_checks` are shared by all probes.

    `device` is cuda, torch's name for every GPU. With cpu only the numerical comparisons run.
    """

    interpreter: Path | None = None
    unavailable_reason: str = "no Python environment of the target found. Pass --python path/to/python"
    roots: tuple[Path, ...] = ()
    device: str = "cuda"
    seconds: float = SECONDS
    cached_checks: dict[object, BackendCheck] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, interpreter: Path, *roots: Path) -> Environment:
        """With an interpreter. `roots`: folders outside the environment that packages may come from."""
        return cls(interpreter, "", roots)
