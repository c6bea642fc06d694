"""The toolchain made of wheels: assembled and checked once, then used from rocm3d's cache."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rocm3d.model.errors import MachineError
from rocm3d.model.toolchain import DetectedToolchain
from rocm3d.toolchain import device_library, standard_library, torch_headers
from rocm3d.toolchain.code_object import read_code_object
from rocm3d.toolchain.compiler import Compiler
from rocm3d.toolchain.hipify import Hipify
from rocm3d.toolchain.wheels import fetch, unpack
from rocm3d.workspace.state import cache_folder, cache_path, file_lock

if TYPE_CHECKING:
    from rocm3d.model.toolchain import WheelToolchain

STAMP = "toolchain.json"
_LAYOUT = 3  # increase it if this module assembles a recipe differently
KNOWN_KERNEL = """#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
extern "C" __global__ void rocm3d_known(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = sinf(x[i]) + __half2float(__float2half(__shfl_xor(x[i], 1)));
}
"""

Progress = Callable[[str], None]


def toolchain_folder(recipe: WheelToolchain) -> Path:
    """Folder of the toolchain, which may not exist yet. Each recipe has its own, so an update finds no old files."""
    digest = hashlib.sha256(f"{_LAYOUT}{recipe.model_dump_json()}".encode()).hexdigest()[:12]
    return cache_path() / "toolchain" / f"{recipe.id}-{digest}"


def find(recipe: WheelToolchain) -> DetectedToolchain:
    """The state of the toolchain on this machine; `lacks` is the reason if it cannot be used."""
    unavailable_reason = _missing_modules(recipe)
    stamp = toolchain_folder(recipe) / STAMP
    if unavailable_reason is None and not stamp.is_file():
        unavailable_reason = (
            f"not prepared yet. Run rocm3d toolchain prepare (downloads at most {download_megabytes(recipe)} MB)"
        )
    if unavailable_reason is not None:
        return DetectedToolchain(
            kind="wheels", title=recipe.title, hip=recipe.hip, headers="mixed", lacks=unavailable_reason
        )
    try:
        return DetectedToolchain.model_validate_json(stamp.read_text(encoding="utf-8"))
    except (OSError, ValidationError) as error:
        raise MachineError(
            f"cannot read {stamp}", hint="run rocm3d cache clear, then rocm3d toolchain prepare"
        ) from error


def download_megabytes(recipe: WheelToolchain) -> int:
    """Upper limit of the download of `prepare`."""
    return sum(part.megabytes for part in (*recipe.wheels, *recipe.torches))


def compiler(recipe: WheelToolchain, root: Path | None = None, about: DetectedToolchain | None = None) -> Compiler:
    """The compiler of the prepared toolchain."""
    root = root or toolchain_folder(recipe)
    zig, resource = _zig(recipe), _resource_folder(recipe)
    clang = (str(zig), "clang")
    search = ("-isystem", str(root / "include"), "-resource-dir", str(resource), "-Wno-linker-warnings")
    hip = (*clang, "-x", "hip", f"--target={standard_library.TARGET}", f"--rocm-path={root}", *search)
    return Compiler(
        about or find(recipe),
        (*hip, *standard_library.flags(zig, resource)),
        assemble=(*clang, "--target=amdgcn-amd-amdhsa"),
        link=(str(zig), "ld.lld"),
    )


def prepare(recipe: WheelToolchain, progress: Progress) -> DetectedToolchain:
    """Downloads, unpacks, patches, generates, and compiles a test kernel for every target. Safe to run in parallel."""
    missing_modules = _missing_modules(recipe)
    if missing_modules is not None:
        raise MachineError(missing_modules)
    cache_folder()  # creates it with its tag file
    target = toolchain_folder(recipe)
    target.parent.mkdir(parents=True, exist_ok=True)
    with file_lock(target, seconds=math.inf):  # the process that holds the lock prepares for us too
        if (target / STAMP).is_file():
            return find(recipe)
        for stale in target.parent.glob(f"{target.name}.making-*"):
            shutil.rmtree(stale)  # we hold the lock, so the process that created it was killed
        with tempfile.TemporaryDirectory(prefix=f"{target.name}.making-", dir=target.parent) as making:
            root = Path(making) / "root"
            about = _assemble(recipe, root, Path(making) / "wheels", progress)
            (root / STAMP).write_text(about.model_dump_json(indent=2) + "\n", encoding="utf-8")
            shutil.rmtree(target, ignore_errors=True)
            root.rename(target)
    return find(recipe)


def _assemble(recipe: WheelToolchain, root: Path, wheels: Path, progress: Progress) -> DetectedToolchain:
    for part in (*recipe.wheels, *recipe.torches):
        progress(f"downloading {part.distribution} {part.version}, at most {part.megabytes} MB: {part.why}")
        wheel = fetch(part, wheels)
        unpack(wheel, part.takes, root)
        wheel.unlink()  # hundreds of megabytes
    for patch in recipe.patches:
        path = root / patch.path
        text = path.read_text(encoding="utf-8")
        if patch.old not in text:
            raise MachineError(f"cannot patch {patch.path} for recipe {recipe.id}: it does not contain {patch.old!r}")
        path.write_text(text.replace(patch.old, patch.new), encoding="utf-8")
    progress("generating the control libraries")
    device_library.write_device_library(root, recipe, (str(_zig(recipe)), "clang"))
    progress("translating torch's headers")
    for part in recipe.torches:
        folder = root / part.folder
        torch_headers.write_hip_headers(folder / "include", folder / "hip_include", Hipify(folder))
    torch = ", ".join(part.version for part in recipe.torches)
    about = DetectedToolchain(kind="wheels", title=recipe.title, hip=recipe.hip, headers="mixed", torch=torch)
    candidate = compiler(recipe, root, about)
    for gfx in recipe.targets:
        progress(f"compiling a test kernel for {gfx}")
        _check_target(candidate, gfx, root)
    return about.model_copy(update={"targets": recipe.targets})


def _check_target(candidate: Compiler, gfx: str, root: Path) -> None:
    source, output = root / "known.hip", root / f"known.{gfx}.hsaco"
    source.write_text(KNOWN_KERNEL, encoding="ascii")
    compiler_run = candidate.compile_device(source, gfx, output, ["-O2"])
    if compiler_run.output is None:
        raise MachineError(f"the toolchain cannot compile for {gfx}: {compiler_run.messages.strip()[-300:]}")
    code = read_code_object(output.read_bytes())
    if code.gfx != gfx or [kernel.name for kernel in code.kernels] != ["rocm3d_known"]:
        raise MachineError(f"test kernel for {gfx}: expected 1 kernel, got {len(code.kernels)} for {code.gfx}")
    for leftover in root.glob("known.*"):
        leftover.unlink()


def _missing_modules(recipe: WheelToolchain) -> str | None:
    missing = [name for name in (recipe.compiler_module, recipe.resource_module) if _module_folder(name) is None]
    return f"{', '.join(missing)} not installed. Run pip install 'rocm3d[{recipe.extra}]'" if missing else None


def _zig(recipe: WheelToolchain) -> Path:
    folder = _module_folder(recipe.compiler_module)
    assert folder is not None
    return folder / "zig"


def _resource_folder(recipe: WheelToolchain) -> Path:
    folder = _module_folder(recipe.resource_module)
    assert folder is not None
    return folder / recipe.resource_folder


def _module_folder(module: str) -> Path | None:
    """The folder of a module, found without importing it."""
    spec = importlib.util.find_spec(module)
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None
