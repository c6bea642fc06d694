"""Compile results that the probes of levels compile and nvidia share, so that each unit is compiled once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.toolchain.nvcc import Nvcc, find_nvcc
from rocm3d.verify.compilation.cuda_session import CudaUnit, compile_cuda
from rocm3d.verify.compilation.declared import DEVICE
from rocm3d.verify.compilation.kit import Kit, find_kit
from rocm3d.verify.compilation.session import Report, Request, compile_repository

if TYPE_CHECKING:
    from rocm3d.verify.probe import Case
    from rocm3d.workspace.tree import Tree

NO_EXTENSION = "the repository builds no native extension"


def kit_of(case: Case) -> Kit | str:
    """The kit for the plan's stack, or the reason why nothing can be compiled."""
    if case.building.refused:
        return case.building.refused
    if case.knowledge is None:
        return "no knowledge base loaded"
    generation = case.plan.base.hipify if case.plan.base else None
    given = case.building
    kit = find_kit(case.knowledge.toolchains, generation, given.hip_headers, given.interpreter)
    if isinstance(kit, Kit) and kit.torch is None:
        return "no headers of torch found. Run rocm3d toolchain prepare, or pass --python path/to/python"
    return kit


def amd(case: Case, kit: Kit) -> Report:
    """Compiles every unit for the targets, once for all probes."""
    kept = case.building.kept
    if "amd" not in kept:
        kept["amd"] = compile_repository(_request(case, case.tree), kit)
    report = kept["amd"]
    assert isinstance(report, Report)
    return report


def nvidia(case: Case, kit: Kit, tree: Tree | None = None, *, device_alone: bool = False) -> tuple[CudaUnit, ...] | str:
    """Compiles every unit with nvcc, or returns the reason why not. Results for another `tree` are not cached.

    `device_only` skips sources without device code; compiling torch's headers takes most of the time.
    """
    assert kit.torch is not None
    nvcc = nvcc_here()
    if nvcc is None:
        return "nvcc is not installed"
    if tree is not None:
        return compile_cuda(_request(case, tree), kit.torch, nvcc)
    kept = case.building.kept
    if "nvidia" not in kept and device_alone:
        return compile_cuda(replace(_request(case, case.tree), only=_has_kernels), kit.torch, nvcc)
    if "nvidia" not in kept:
        kept["nvidia"] = compile_cuda(_request(case, case.tree), kit.torch, nvcc)
    found = kept["nvidia"]
    assert isinstance(found, tuple)
    return found


def _has_kernels(path: str) -> bool:
    return PurePosixPath(path).suffix in DEVICE


def nvcc_here() -> Nvcc | None:
    """nvcc of this machine; None if it is not installed."""
    return find_nvcc()


def _request(case: Case, tree: Tree) -> Request:
    assert case.knowledge is not None
    return Request(
        tree,
        case.now.inventory.extensions,
        case.targets,
        case.knowledge,
        case.now.findings,
        case.building.interpreter,
        told=case.building.told,
    )
