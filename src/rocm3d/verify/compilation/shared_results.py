"""Compile results that the probes of levels compile and nvidia share, so that each unit is compiled once.

What compiles is imported when it is needed: most verifications compile nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.model.errors import Rocm3dError
from rocm3d.verify.probe import Case, UncheckedError
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from rocm3d.verify.compilation.cuda_session import CudaUnitResult
    from rocm3d.verify.compilation.kit import CompileKit
    from rocm3d.verify.compilation.session import CompileReport, CompileRequest

NO_EXTENSION = "the repository builds no native extension"


def find_case_kit(case: Case) -> CompileKit:
    """The kit for the plan's stack. Raises UncheckedError if nothing can be compiled."""
    options = case.compile_options
    if options.disabled_reason:
        raise UncheckedError(options.disabled_reason)
    from rocm3d.verify.compilation.kit import find_kit

    generation = case.plan.base.hipify if case.plan.base else None
    try:
        return find_kit(case.knowledge.toolchains, generation, options.hip_headers, options.interpreter)
    except Rocm3dError as error:
        raise UncheckedError(error.message) from error


def compile_with_hip(case: Case, kit: CompileKit) -> CompileReport:
    """Compiles every unit for the targets, once for all probes."""
    from rocm3d.verify.compilation.session import compile_repository

    options = case.compile_options
    if options.hip_result is None:
        options.hip_result = compile_repository(_request(case, case.tree), kit)
    return options.hip_result


def compile_with_nvcc(
    case: Case, kit: CompileKit, tree: Tree | None = None, *, device_only: bool = False
) -> tuple[CudaUnitResult, ...]:
    """Compiles every unit. Results for another `tree` are not cached. Raises UncheckedError if there is no nvcc.

    `device_only` skips sources without device code; compiling torch's headers takes most of the time.
    """
    from rocm3d.toolchain.compiler import find_nvcc
    from rocm3d.verify.compilation.cuda_session import compile_cuda

    nvcc, options = find_nvcc(), case.compile_options
    if nvcc is None:
        raise UncheckedError("nvcc is not installed")
    if tree is not None:
        return compile_cuda(_request(case, tree), kit.torch, nvcc)
    if options.nvcc_results is None and device_only:
        return compile_cuda(replace(_request(case, case.tree), only=_has_kernels), kit.torch, nvcc)
    if options.nvcc_results is None:
        options.nvcc_results = compile_cuda(_request(case, case.tree), kit.torch, nvcc)
    return options.nvcc_results


def _has_kernels(path: str) -> bool:
    from rocm3d.verify.compilation.build_script import DEVICE_SUFFIXES

    return PurePosixPath(path).suffix in DEVICE_SUFFIXES


def _request(case: Case, tree: Tree) -> CompileRequest:
    from rocm3d.verify.compilation.session import CompileRequest

    return CompileRequest(
        tree,
        case.current_scan.inventory.extensions,
        case.targets,
        case.knowledge,
        case.current_scan.findings,
        case.compile_options.interpreter,
        progress=case.compile_options.progress,
    )
