"""The target's environment: its interpreter, and what it was asked already."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.look import Look

SECONDS = 300.0  # kernels may be compiled on their first call


@dataclass(frozen=True)
class Environment:
    """`lacks` says why nothing can be asked; empty: it can. `answers` keeps what one probe was told for the next one.

    `device` is cuda, which is what torch calls every GPU; with cpu the comparisons alone are tried.
    """

    interpreter: Path | None = None
    lacks: str = "no interpreter of the target is known: name it with --python"
    roots: tuple[Path, ...] = ()
    device: str = "cuda"
    seconds: float = SECONDS
    answers: dict[object, Look] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, interpreter: Path, *roots: Path) -> Environment:
        """One that can be asked; `roots` are folders that packages may come from besides the environment itself."""
        return cls(interpreter, "", roots)
