"""Compiles the same units with nvcc: do they still compile, and which kernels do they have?"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.compilation import KernelFacts, CompileResult
from rocm3d.toolchain import own_headers
from rocm3d.toolchain.compiler import CompilerRun
from rocm3d.toolchain.nvcc import Nvcc, ptx_kernels
from rocm3d.verify.compilation import diagnostics, program
from rocm3d.verify.compilation.build_script import Machine
from rocm3d.verify.compilation.compile_side import Done
from rocm3d.verify.compilation.content_cache import ContentCache, read_dependencies
from rocm3d.verify.compilation.extensions import Finder
from rocm3d.verify.compilation.pool import Job, compile_all
from rocm3d.verify.compilation.session import CACHE, Request, workplace
from rocm3d.verify.compilation.unit import Unit, units
from rocm3d.workspace.process import run
from rocm3d.workspace.result_cache import ResultCache

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocm3d.toolchain.torch_kit import TorchKit
    from rocm3d.verify.compilation.declared import Declared

NVCC = "nvcc"
_WARP = 32
_SAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_OURS_TO_CHOOSE = ("-gencode", "--generate-code", "-arch", "--gpu-architecture", "--offload-arch", "arch=")


@dataclass(frozen=True)
class CudaUnit:
    """A unit and its result with nvcc."""

    unit: Unit
    side: CompileResult


def compile_cuda(request: Request, torch: TorchKit, nvcc: Nvcc) -> tuple[CudaUnit, ...]:
    """Compiles every unit of the repository as NVIDIA users build it."""
    with workplace(request) as place:
        machine = Machine(torch.version, "", "", _WARP, cuda=nvcc.release)
        scripts = Finder(place.tree, machine, interpreter=request.interpreter).find(request.extensions)
        todo = list(
            dict.fromkeys(
                unit for found in scripts for item in found.extensions for unit in _units(item, place.tree, torch)
            )
        )
        todo = [unit for unit in todo if request.only(unit.source)]
        out = place.folder / "out"
        out.mkdir()
        cache = ContentCache(ResultCache.open(CACHE), place.tree, (torch.root, own_headers.FOLDER, nvcc.program.parent))
        base = (
            program.digest(),
            NVCC,
            nvcc.release,
            nvcc.architecture,
            torch.version,
            own_headers.digest(),
            cache.names(),
        )
        bench = _Bench(nvcc, place.tree, out, request.seconds)
        jobs = {
            unit: Job(cache.key(*base, *_deciding(unit, place.tree)), partial(bench.compile, unit)) for unit in todo
        }
        sides = compile_all(jobs, cache, lambda unit, side: request.told(f"{unit.source} by nvcc: {side.outcome}"))
    return tuple(CudaUnit(unit, sides[unit]) for unit in todo)


def _units(extension: Declared, tree: Path, torch: TorchKit) -> Iterator[Unit]:
    for unit in units(extension, tree, {}, torch):
        yield Unit(unit.source, unit.file, unit.extension, unit.language, _flags(extension, torch, unit))


def _flags(extension: Declared, torch: TorchKit, unit: Unit) -> tuple[str, ...]:
    """The flags that torch's BuildExtension passes to nvcc or to the host compiler."""
    device = unit.language == "hip"
    given = [
        flag
        for flag in (extension.device_flags if device else extension.host_flags)
        if not flag.startswith(_OURS_TO_CHOOSE)
    ]
    include = [f"-I{folder}" for folder in (*extension.include_dirs, *torch.cuda_include, torch.python_include)]
    common = [*torch.flags.cuda, "--compiler-options", "-fPIC"] if device else ["-fPIC"]
    names = ["-DTORCH_API_INCLUDE_EXTENSION_H", f"-DTORCH_EXTENSION_NAME={extension.name.rsplit('.', 1)[-1]}"]
    standard = [] if any(flag.startswith("-std=") for flag in given) else [f"-std={torch.flags.standard}"]
    ours = ["-isystem", str(own_headers.CUDA)]
    return (
        *include,
        *extension.macros,
        *(common if extension.uses_torch else ()),
        *given,
        *names,
        *standard,
        *ours,
        "-w",
    )


@dataclass(frozen=True)
class _Bench:
    """Compiles units with nvcc and the host compiler."""

    nvcc: Nvcc
    tree: Path
    out: Path
    seconds: float

    def compile(self, unit: Unit) -> Done:
        base = self.out / _SAFE.sub("_", f"{unit.extension}-{unit.file}")
        output, rule = base.with_name(f"{base.name}.o"), base.with_name(f"{base.name}.d")
        flags = (*unit.flags, "-MD", "-MF", str(rule))
        if unit.language == "hip":
            ended = self.nvcc.compile_object(Path(unit.file), output, flags, self.tree, self.seconds)
        else:
            ended = self._plain(unit, output, flags)
        read = read_dependencies(rule, self.tree)
        files = tuple(read or (path for path in self.tree.rglob("*") if path.is_file()))
        spoke = ended.output is not None or bool(diagnostics.errors(ended.messages))
        return Done(_side(unit, ended, output, files), files, is_final=spoke)

    def _plain(self, unit: Unit, output: Path, flags: Sequence[str]) -> CompilerRun:
        """C++ sources go to the host compiler, with the include folder of CUDA."""
        host = shutil.which("c++") or shutil.which("g++")
        if host is None:
            return CompilerRun(None, "error: no host compiler found (c++ or g++)")
        command = [host, *flags, f"-I{self.nvcc.include}", "-c", unit.file, "-o", str(output)]
        ended = run(command, cwd=self.tree, seconds=self.seconds, keep_bytes=4 * 1024 * 1024)
        made = output if ended.code == 0 and output.is_file() else None
        return CompilerRun(made, ended.stderr.decode(errors="replace"), ended.timed_out)


def _side(unit: Unit, ended: CompilerRun, output: Path, files: Sequence[Path]) -> CompileResult:
    ours = tuple(dict.fromkeys(name for path in files if (name := own_headers.include_name(path))))
    errors = diagnostics.errors(ended.messages)
    base = CompileResult(side=NVCC, outcome="failed", own_headers=ours)
    if ended.timed_out:
        return base.model_copy(update={"outcome": "timed_out"})
    if ended.output is None:
        away = [name for error in errors if (name := diagnostics.missing_header(error))]
        if away:
            return base.model_copy(update={"outcome": "lacks", "lacks": away[-1]})
        return base.model_copy(update={"errors": errors or diagnostics.errors(f"error: {ended.messages.strip()[-300:]}")})
    kernels = tuple(KernelFacts(name=name, empty=empty) for name, empty in ptx_kernels(Nvcc.read_ptx(output)))
    return base.model_copy(update={"outcome": "compiled", "kernels": kernels if unit.language == "hip" else ()})


def _deciding(unit: Unit, tree: Path) -> tuple[str, ...]:
    return (unit.file, *unit.flags, (tree / unit.file).read_text(encoding="utf-8", errors="replace"))
