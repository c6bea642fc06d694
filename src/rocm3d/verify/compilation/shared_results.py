"""Compile results that the probes of levels compile and nvidia share, so that each unit is compiled once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.toolchain.compiler import Nvcc, find_nvcc
from rocm3d.verify.compilation.build_script import DEVICE_SUFFIXES
from rocm3d.verify.compilation.cuda_session import CudaUnitResult, compile_cuda
from rocm3d.verify.compilation.kit import CompileKit, find_kit
from rocm3d.verify.compilation.session import CompileReport, CompileRequest, compile_repository

if TYPE_CHECKING:
    from rocm3d.verify.probe import Case
    from rocm3d.workspace.tree import Tree

NO_EXTENSION = "the repository builds no native extension"


def find_case_kit(case: Case) -> CompileKit | str:
    """The kit for the plan's stack, or the reason why nothing can be compiled."""
    if case.compile_options.disabled_reason:
        return case.compile_options.disabled_reason
    if case.knowledge is None:
        return "no knowledge base loaded"
    generation = case.plan.base.hipify if case.plan.base else None
    options = case.compile_options
    kit = find_kit(case.knowledge.toolchains, generation, options.hip_headers, options.interpreter)
    if isinstance(kit, CompileKit) and kit.torch is None:
        return "no headers of torch found. Run rocm3d toolchain prepare, or pass --python path/to/python"
    return kit


def compile_with_hip(case: Case, kit: CompileKit) -> CompileReport:
    """Compiles every unit for the targets, once for all probes."""
    results = case.compile_options.results
    if "amd" not in results:
        results["amd"] = compile_repository(_request(case, case.tree), kit)
    report = results["amd"]
    assert isinstance(report, CompileReport)
    return report


def compile_with_nvcc(
    case: Case, kit: CompileKit, tree: Tree | None = None, *, device_only: bool = False
) -> tuple[CudaUnitResult, ...] | str:
    """Compiles every unit with nvcc, or returns the reason why not. Results for another `tree` are not cached.

    `device_only` skips sources without device code; compiling torch's headers takes most of the time.
    """
    assert kit.torch is not None
    nvcc = local_nvcc()
    if nvcc is None:
        return "nvcc is not installed"
    if tree is not None:
        return compile_cuda(_request(case, tree), kit.torch, nvcc)
    results = case.compile_options.results
    if "nvidia" not in results and device_only:
        return compile_cuda(replace(_request(case, case.tree), only=_has_kernels), kit.torch, nvcc)
    if "nvidia" not in results:
        results["nvidia"] = compile_cuda(_request(case, case.tree), kit.torch, nvcc)
    units = results["nvidia"]
    assert isinstance(units, tuple)
    return units


def _has_kernels(path: str) -> bool:
    return PurePosixPath(path).suffix in DEVICE_SUFFIXES


def local_nvcc() -> Nvcc | None:
    """nvcc of this machine; None if it is not installed."""
    return find_nvcc()


def _request(case: Case, tree: Tree) -> CompileRequest:
    assert case.knowledge is not None
    return CompileRequest(
        tree,
        case.current_scan.inventory.extensions,
        case.targets,
        case.knowledge,
        case.current_scan.findings,
        case.compile_options.interpreter,
        progress=case.compile_options.progress,
    )
