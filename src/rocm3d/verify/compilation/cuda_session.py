"""Compiles the same units with nvcc: do they still compile, and which kernels do they have?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from rocm3d.model.verdict import CompileResult, KernelFacts
from rocm3d.toolchain import own_headers
from rocm3d.toolchain.compiler import CompilerRun, Nvcc, ptx_kernels, run_compiler
from rocm3d.toolchain.torch_kit import TorchKit
from rocm3d.verify.compilation import diagnostics
from rocm3d.verify.compilation.build_script import DeclaredExtension, SimulatedMachine
from rocm3d.verify.compilation.compile_side import UNSAFE_CHARACTERS, CacheableResult
from rocm3d.verify.compilation.content_cache import (
    CompileJob,
    compile_all,
    program_digest,
    read_dependencies,
)
from rocm3d.verify.compilation.extensions import ExtensionFinder
from rocm3d.verify.compilation.session import CompileRequest, content_cache, repository_copy
from rocm3d.verify.compilation.translation_unit import TranslationUnit, translation_units
from rocm3d.workspace.programs import find_program

NVCC = "nvcc"
_WARP = 32
_TARGET_FLAGS = ("-gencode", "--generate-code", "-arch", "--gpu-architecture", "--offload-arch", "arch=")


@dataclass(frozen=True)
class CudaUnitResult:
    """A unit and its result with nvcc."""

    unit: TranslationUnit
    side: CompileResult


def compile_cuda(request: CompileRequest, torch: TorchKit, nvcc: Nvcc) -> tuple[CudaUnitResult, ...]:
    """Compiles every unit of the repository as NVIDIA users build it."""
    with repository_copy(request, (*torch.paths, *nvcc.paths)) as copy:
        nvcc = replace(nvcc, sandbox=copy.sandbox)
        machine = SimulatedMachine(torch.version, "", "", _WARP, cuda=nvcc.release)
        finder = ExtensionFinder(copy.tree, machine, interpreter=request.interpreter, sandbox=copy.sandbox)
        scripts = list(finder.find(request.extensions))
        extensions = [item for script in scripts for item in script.extensions]
        units = (unit for item in extensions for unit in _units(item, copy.tree, torch) if request.only(unit.source))
        all_units = list(dict.fromkeys(units))
        out = copy.folder / "out"
        out.mkdir()
        cache = content_cache(copy, (torch.root, own_headers.FOLDER, nvcc.program.parent))
        key_parts = (
            program_digest(),
            NVCC,
            "sandbox" if request.sandboxed else "",
            nvcc.release,
            nvcc.architecture,
            torch.version,
            own_headers.digest(),
            cache.names_digest(),
        )
        unit_compiler = _CudaUnitCompiler(nvcc, copy.tree, out, request.seconds)
        jobs = {
            unit: CompileJob(cache.key(*key_parts, *_key_parts(unit, copy.tree)), partial(unit_compiler.compile, unit))
            for unit in all_units
        }
        sides = compile_all(jobs, cache, lambda unit, side: request.progress(f"{unit.source} by nvcc: {side.outcome}"))
    return tuple(CudaUnitResult(unit, sides[unit]) for unit in all_units)


def _units(extension: DeclaredExtension, tree: Path, torch: TorchKit) -> Iterator[TranslationUnit]:
    for unit in translation_units(extension, tree, {}, torch):
        yield replace(unit, flags=_flags(extension, torch, unit))


def _flags(extension: DeclaredExtension, torch: TorchKit, unit: TranslationUnit) -> tuple[str, ...]:
    """The flags that torch's BuildExtension passes to nvcc or to the host compiler."""
    device = unit.language == "hip"
    own_flags = [
        flag
        for flag in (extension.device_flags if device else extension.host_flags)
        if not flag.startswith(_TARGET_FLAGS)
    ]
    include = [f"-I{folder}" for folder in (*extension.include_dirs, *torch.cuda_include, torch.python_include)]
    common = [*torch.flags.cuda, "--compiler-options", "-fPIC"] if device else ["-fPIC"]
    names = ["-DTORCH_API_INCLUDE_EXTENSION_H", f"-DTORCH_EXTENSION_NAME={extension.name.rsplit('.', 1)[-1]}"]
    standard = [] if any(flag.startswith("-std=") for flag in own_flags) else [f"-std={torch.flags.standard}"]
    declared_headers = ["-isystem", str(own_headers.CUDA)]
    return (
        *include,
        *extension.macros,
        *(common if extension.uses_torch else ()),
        *own_flags,
        *names,
        *standard,
        *declared_headers,
        "-w",
    )


@dataclass(frozen=True)
class _CudaUnitCompiler:
    """Compiles units with nvcc and the host compiler."""

    nvcc: Nvcc
    tree: Path
    out: Path
    seconds: float

    def compile(self, unit: TranslationUnit) -> CacheableResult:
        folder = self.out / UNSAFE_CHARACTERS.sub("_", f"{unit.extension}-{unit.file}")
        folder.mkdir()
        output, dependency_file = folder / "unit.o", folder / "unit.d"
        flags = (*unit.flags, "-MD", "-MF", str(dependency_file))
        if unit.language == "hip":
            result = self.nvcc.compile_object(Path(unit.file), output, flags, self.tree, self.seconds)
        else:
            result = self._compile_cpp(unit, output, flags)
        dependencies = read_dependencies(dependency_file, self.tree)
        files = tuple(dependencies or (path for path in self.tree.rglob("*") if path.is_file()))
        is_final = result.output is not None or bool(diagnostics.parse_errors(result.messages))
        return CacheableResult(_to_side(unit, result, output, files), files, is_final=is_final)

    def _compile_cpp(self, unit: TranslationUnit, output: Path, flags: Sequence[str]) -> CompilerRun:
        """C++ sources go to the host compiler, with the include folder of CUDA."""
        host = find_program("c++") or find_program("g++")
        if host is None:
            return CompilerRun(None, "error: no host compiler found (c++ or g++)")
        command = [host, *flags, f"-I{self.nvcc.include}", "-c", unit.file, "-o", str(output)]
        return run_compiler(command, output, self.tree, self.seconds, self.nvcc.sandbox)


def _to_side(unit: TranslationUnit, result: CompilerRun, output: Path, files: Sequence[Path]) -> CompileResult:
    declared_headers = tuple(dict.fromkeys(name for path in files if (name := own_headers.include_name(path))))
    errors = diagnostics.parse_errors(result.messages)
    base = CompileResult(side=NVCC, outcome="failed", own_headers=declared_headers)
    if result.stopped:
        return base.model_copy(update={"outcome": "timed_out", "stopped": result.stopped})
    if result.output is None:
        missing_headers = [name for error in errors if (name := diagnostics.missing_header(error))]
        if missing_headers:
            return base.model_copy(update={"outcome": "lacks", "lacks": missing_headers[-1]})
        return base.model_copy(
            update={"errors": errors or diagnostics.parse_errors(f"error: {result.messages.strip()[-300:]}")}
        )
    kernels = tuple(KernelFacts(name=name, empty=empty) for name, empty in ptx_kernels(Nvcc.read_ptx(output)))
    return base.model_copy(update={"outcome": "compiled", "kernels": kernels if unit.language == "hip" else ()})


def _key_parts(unit: TranslationUnit, tree: Path) -> tuple[str, ...]:
    return (unit.file, *unit.flags, (tree / unit.file).read_text(encoding="utf-8", errors="replace"))
