"""Which GPU backends a CMake file enables, and whether CUDA is optional."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.manifest.manifest import ScriptCommand, ParsedManifest

_ROCM = re.compile(r"(?i)(use|with|enable|build)_?(rocm|hip)\b|\b(rocm|hip)(_found|_path|_home|_root|_enabled)?\b")
_CUDA_WORD = frozenset({"CUDA", "CUDAToolkit"})
_CUDA = re.compile(r"CUDA|NVCC|GPU", re.IGNORECASE)


def handles_rocm(unit: ParsedManifest) -> bool:
    """Whether a condition or a command of the file mentions ROCm or HIP."""
    return any(
        command.name in ("if", "elseif", "option", "find_package", "enable_language", "project", "hip_add_library")
        and any(_ROCM.search(word) for word in command.arguments)
        for command in unit.commands
    )


def with_optional(unit: ParsedManifest) -> Iterator[tuple[ScriptCommand, bool]]:
    """Each command, and whether it is inside a condition on CUDA, so that the project also builds without."""
    asked: list[bool] = []
    for command in unit.commands:
        if command.name == "if":
            asked.append(_asks(command))
        elif command.name == "elseif" and asked:
            asked[-1] = asked[-1] or _asks(command)
        elif command.name == "endif":
            asked = asked[:-1]
        else:
            yield command, any(asked)


def turns_cuda_on(unit: ParsedManifest) -> bool:
    """Whether the project enables CUDA unconditionally."""
    return any(
        command.name in ("project", "enable_language", "find_package")
        and not optional
        and _CUDA_WORD & {*command.arguments}
        for command, optional in with_optional(unit)
    )


def _asks(command: ScriptCommand) -> bool:
    return any(_CUDA.search(word) for word in command.arguments)
