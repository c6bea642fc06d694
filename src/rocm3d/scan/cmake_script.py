"""Which GPU backends a CMake file enables, and whether CUDA is optional."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.manifest.manifest import ParsedManifest, ScriptCommand

_ROCM = re.compile(r"(?i)(use|with|enable|build)_?(rocm|hip)\b|\b(rocm|hip)(_found|_path|_home|_root|_enabled)?\b")
_CUDA_PACKAGES = frozenset({"CUDA", "CUDAToolkit"})
_CUDA = re.compile(r"CUDA|NVCC|GPU", re.IGNORECASE)


def mentions_rocm(unit: ParsedManifest) -> bool:
    """Whether a condition or a command of the file mentions ROCm or HIP."""
    return any(
        command.name in ("if", "elseif", "option", "find_package", "enable_language", "project", "hip_add_library")
        and any(_ROCM.search(argument) for argument in command.arguments)
        for command in unit.commands
    )


def commands_with_cuda_optional(unit: ParsedManifest) -> Iterator[tuple[ScriptCommand, bool]]:
    """Each command, and whether it is inside a condition on CUDA, so that the project also builds without."""
    cuda_conditions: list[bool] = []
    for command in unit.commands:
        if command.name == "if":
            cuda_conditions.append(_mentions_cuda(command))
        elif command.name == "elseif" and cuda_conditions:
            cuda_conditions[-1] = cuda_conditions[-1] or _mentions_cuda(command)
        elif command.name == "endif":
            cuda_conditions = cuda_conditions[:-1]
        else:
            yield command, any(cuda_conditions)


def requires_cuda(unit: ParsedManifest) -> bool:
    """Whether the project enables CUDA unconditionally."""
    return any(
        command.name in ("project", "enable_language", "find_package")
        and not optional
        and _CUDA_PACKAGES & {*command.arguments}
        for command, optional in commands_with_cuda_optional(unit)
    )


def _mentions_cuda(command: ScriptCommand) -> bool:
    return any(_CUDA.search(argument) for argument in command.arguments)
