"""Compile results that the probes of levels compile and nvidia share, so that each unit is compiled once.

What compiles is imported when it is needed: most verifications compile nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.model.errors import MachineError, Rocm3dError
from rocm3d.verify.compilation.compile_options import RESUME_COMMAND
from rocm3d.verify.probe import Case, UncheckedError
from rocm3d.workspace.sandbox import unavailable_reason
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from rocm3d.verify.compilation.cuda_session import CudaUnitResult
    from rocm3d.verify.compilation.kit import CompileKit
    from rocm3d.verify.compilation.session import CompileReport, CompileRequest

NO_EXTENSION = "the repository builds no native extension"


def has_native_code(case: Case) -> bool:
    """Whether a build script of the repository may declare an extension, so that it has to be run."""
    if case.current_scan.inventory.extensions:
        return True
    scripts = (path for path in case.tree.paths() if PurePosixPath(path).name == "setup.py")
    return any(b"cpp_extension" in (case.tree.read(path) or b"") for path in scripts)


def find_case_kit(case: Case) -> CompileKit:
    """The kit for the plan's stack. Raises UncheckedError if nothing has to be compiled, or nothing can be."""
    if not has_native_code(case):
        raise UncheckedError(NO_EXTENSION, "skipped")
    options = case.compile_options
    if options.disabled_reason:
        raise UncheckedError(options.disabled_reason)
    from rocm3d.verify.compilation.kit import find_kit

    generation = case.plan.base.hipify if case.plan.base else None
    try:
        kit = find_kit(case.knowledge.toolchains, generation, options.hip_headers, options.interpreter)
    except Rocm3dError as error:
        raise UncheckedError(error.message) from error
    _require_sandbox(case)
    return kit


def _require_sandbox(case: Case) -> None:
    """Raises UncheckedError if there is no sandbox, it is required, and the user does not agree to go without."""
    options = case.compile_options
    reason = unavailable_reason()
    if not reason or options.sandbox == "preferred":
        return
    question = f"No sandbox: {reason}. Run the build scripts of {case.tree.name} and compile it with your rights?"
    if not options.confirm(question):
        raise UncheckedError(
            f"no sandbox: {reason}. To run the build scripts of a repository that you trust: {RESUME_COMMAND}"
        )
    options.sandbox = "preferred"


def compile_with_hip(case: Case, kit: CompileKit) -> CompileReport:
    """Compiles every unit for the targets, once for all probes."""
    from rocm3d.verify.compilation.session import compile_repository

    options = case.compile_options
    if options.hip_result is None:
        try:
            options.hip_result = compile_repository(_request(case, case.tree), kit)
        except MachineError as error:
            raise UncheckedError(error.message) from error
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
    if not options.nvcc:
        raise UncheckedError("not compiled with nvcc. Run rocm3d verify . --level nvidia")
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
        budget=case.compile_options.budget,
        sandboxed=not unavailable_reason(),
    )
