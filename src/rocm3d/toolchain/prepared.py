"""The toolchain made of wheels: downloaded, assembled and checked once, then used from rocm3d's cache."""

from __future__ import annotations

import hashlib
import importlib.util
import math
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from rocm3d.model.errors import MachineError
from rocm3d.model.toolchain import DetectedToolchain, WheelContent, WheelPart, WheelToolchain
from rocm3d.toolchain.code_object import read_code_object
from rocm3d.toolchain.compiler import Compiler
from rocm3d.toolchain.hipify import Hipify, write_hip_headers
from rocm3d.workspace.process import run
from rocm3d.workspace.state import cache_folder, cache_path, file_lock

STAMP = "toolchain.json"
_LAYOUT = 3  # increase it if this module assembles a recipe differently
KNOWN_KERNEL = """#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
extern "C" __global__ void rocm3d_known(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = sinf(x[i]) + __half2float(__float2half(__shfl_xor(x[i], 1)));
}
"""

_WORKING_DIRECTORY = Path("/")
_HOST = "x86_64-linux-gnu"
# libc++ needs the settings of its build, which this compiler passes as macros.
_SETTINGS = re.compile(r"^#define (_LIBCPP\w+|_LIBCXXABI\w+|__GLIBC_MINOR__) (.+)$", re.MULTILINE)
_TRIPLE = "amdgcn-amd-amdhsa"
_GFX = re.compile(r"gfx([6-9]|1\d)([0-9a-f])([0-9a-f])")
# Wheels have hundreds of megabytes: leave time for slow connections.
_SECONDS = 3600.0

Progress = Callable[[str], None]


def toolchain_folder(recipe: WheelToolchain) -> Path:
    """Folder of the toolchain, which may not exist yet. Each recipe has its own, so an update finds no old files."""
    content = recipe.model_dump_json(exclude={"seconds"})
    digest = hashlib.sha256(f"{_LAYOUT}{content}".encode()).hexdigest()[:12]
    return cache_path() / "toolchain" / f"{recipe.id}-{digest}"


def find(recipe: WheelToolchain) -> DetectedToolchain:
    """The state of the toolchain on this machine; `lacks` is the reason if it cannot be used."""
    unavailable_reason = _missing_modules(recipe)
    stamp = toolchain_folder(recipe) / STAMP
    if unavailable_reason is None and not stamp.is_file():
        unavailable_reason = f"not prepared yet. Run rocm3d toolchain prepare ({prepare_cost(recipe)})"
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


def prepare_cost(recipe: WheelToolchain) -> str:
    """What `prepare` costs, for a user who decides."""
    return f"once; about {recipe.seconds} s, downloads at most {download_megabytes(recipe)} MB"


def compiler(recipe: WheelToolchain, root: Path | None = None, about: DetectedToolchain | None = None) -> Compiler:
    """The compiler of the prepared toolchain."""
    root = root or toolchain_folder(recipe)
    zig, resource = _zig(recipe), _resource_folder(recipe)
    clang = (str(zig), "clang")
    search = ("-isystem", str(root / "include"), "-resource-dir", str(resource), "-Wno-linker-warnings")
    hip = (*clang, "-x", "hip", f"--target={_HOST}", f"--rocm-path={root}", *search)
    return Compiler(
        about or find(recipe),
        (*hip, *_standard_library_flags(zig, resource)),
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
    write_device_library(root, recipe, (str(_zig(recipe)), "clang"))
    progress("translating torch's headers")
    for part in recipe.torches:
        folder = root / part.folder
        write_hip_headers(folder / "include", folder / "hip_include", Hipify(folder))
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
    if not missing:
        return None
    command = f"pip install 'rocm3d[{recipe.extra}]' and rocm3d toolchain prepare"
    return f"{', '.join(missing)} not installed. Run {command} ({prepare_cost(recipe)})"


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


def _standard_library_flags(zig: Path, resource: Path) -> tuple[str, ...]:
    """Flags with which <vector> and <cmath> are found: none if the machine has them, otherwise those of the wheel."""
    return () if _machine_has_headers(zig, resource) else _wheel_flags(zig, resource)


def _machine_has_headers(zig: Path, resource: Path) -> bool:
    command = [str(zig), "clang", f"--target={_HOST}", "-resource-dir", str(resource), "-x", "c++"]
    return run([*command, "-E", "-include", "vector", os.devnull, "-o", os.devnull]).code == 0


def _wheel_flags(zig: Path, resource: Path) -> tuple[str, ...]:
    listing = (
        _compiler_output(zig, "-E", "-v")
        .partition("#include <...> search starts here:\n")[2]
        .partition("End of search")[0]
    )
    folders = [(_WORKING_DIRECTORY / line.strip()).resolve() for line in listing.splitlines() if line.strip()]
    # The compiler's builtin headers do not include HIP's: the resource folder replaces them at the same position.
    builtin_headers = (zig.parent / "lib" / "include").resolve()
    include_folders = [resource / "include" if folder == builtin_headers else folder for folder in folders]
    settings = [f"-D{name}={value}" for name, value in _SETTINGS.findall(_compiler_output(zig, "-E", "-dM"))]
    return (
        "-nostdinc++",
        "-nostdlibinc",
        *(word for include_folder in include_folders for word in ("-isystem", str(include_folder))),
        *settings,
    )


def _compiler_output(zig: Path, *options: str) -> str:
    # The compiler prints paths relative to its working directory.
    finished = run([str(zig), "c++", "-target", _HOST, *options, "-x", "c++", os.devnull], cwd=_WORKING_DIRECTORY)
    return (finished.stderr + finished.stdout).decode(errors="replace")


def isa_version(gfx: str) -> int:
    """gfx942 is 9402, gfx90a is 9010, gfx1100 is 11000: major * 1000 + minor * 100 + stepping in decimal."""
    match = _GFX.fullmatch(gfx)
    if match is None:
        raise ValueError(gfx)
    major, minor, stepping = match.groups()
    return int(major) * 1000 + int(minor, 16) * 100 + int(stepping, 16)


def write_device_library(root: Path, recipe: WheelToolchain, clang: Sequence[str]) -> None:
    """Writes the files of the recipe that clang requires in a ROCm root."""
    bitcode = root / "amdgcn" / "bitcode"
    bitcode.mkdir(parents=True, exist_ok=True)
    layout = _data_layout(bitcode, clang)
    for name, text in _library_texts(recipe):
        _assemble_library(
            bitcode / f"{name}.bc", f'target datalayout = "{layout}"\ntarget triple = "{_TRIPLE}"\n{text}', clang
        )
    version = dict(zip(("MAJOR", "MINOR", "PATCH"), recipe.hip.split("."), strict=True))
    (root / "share" / "hip").mkdir(parents=True, exist_ok=True)
    lines = "".join(f"HIP_VERSION_{part}={number}\n" for part, number in version.items())
    (root / "share" / "hip" / "version").write_text(lines, encoding="ascii")


def _library_texts(recipe: WheelToolchain) -> Iterator[tuple[str, str]]:
    for name in recipe.empty_libraries:
        yield name, ""
    for library in recipe.libraries:
        yield f"oclc_{library.name}", _constant(library.symbol, library.type, library.value)
    for gfx in recipe.targets:
        yield f"oclc_isa_version_{gfx.removeprefix('gfx')}", _constant("__oclc_ISA_version", "i32", isa_version(gfx))


def _constant(symbol: str, kind: str, value: int) -> str:
    return f"@{symbol} = linkonce_odr hidden local_unnamed_addr addrspace(4) constant {kind} {value}\n"


def _data_layout(folder: Path, clang: Sequence[str]) -> str:
    """The data layout of this compiler: another one would cause a warning in every compile."""
    probe = folder / "probe.c"
    probe.write_text("void nothing(void) {}\n", encoding="ascii")
    ended = run([*clang, f"--target={_TRIPLE}", "-nogpulib", "-S", "-emit-llvm", str(probe), "-o", "-"])
    probe.unlink()
    match = re.search(r'target datalayout = "([^"]+)"', ended.stdout.decode(errors="replace"))
    if match is None:
        raise MachineError(f"{clang[0]} has no AMD targets: {ended.stderr.decode(errors='replace')[-200:]}")
    return match.group(1)


def _assemble_library(output: Path, text: str, clang: Sequence[str]) -> None:
    source = output.with_suffix(".ll")
    source.write_text(text, encoding="ascii")
    command = [*clang, f"--target={_TRIPLE}", "-nogpulib", "-c", "-emit-llvm", str(source), "-o", str(output)]
    ended = run(command)
    source.unlink()
    if ended.code != 0:
        raise MachineError(f"cannot assemble {output.name}: {ended.stderr.decode(errors='replace')[-200:]}")


def fetch(part: WheelPart, folder: Path) -> Path:
    """Downloads the wheel into a folder with the user's pip settings. Builds and installs nothing."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    requirements_file = folder / f"{part.distribution}.txt"
    digest = f" --hash=sha256:{part.sha256}" if part.sha256 else ""
    requirements_file.write_text(f"{part.distribution}=={part.version}{digest}\n", encoding="utf-8")
    download_folder = folder / part.distribution
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(download_folder), "--requirement", str(requirements_file)]
    if part.python:
        command += ["--python-version", part.python]
    for platform in part.platforms:
        command += ["--platform", platform]
    # In the new folder: -m imports from the working folder first, which may be a repository.
    finished = run(command, cwd=folder, seconds=_SECONDS)
    wheels = sorted(download_folder.glob("*.whl")) if download_folder.is_dir() else []
    if finished.code != 0 or len(wheels) != 1:
        stderr_lines = finished.stderr.decode(errors="replace").strip().splitlines()
        reason = stderr_lines[-1] if stderr_lines else f"pip exited with code {finished.code}"
        raise MachineError(
            f"cannot download {part.distribution} {part.version}: {reason}", hint="can pip reach its index?"
        )
    return wheels[0]


def unpack(wheel: Path, takes: tuple[WheelContent, ...], target: Path) -> int:
    """Unpacks the parts in `takes`; returns the number of files. No path leaves `target`."""
    count = 0
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = None if member.is_dir() else _target_path(member.filename, takes, target)
            if path is None:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(member))
            count += 1
    if not count:
        raise MachineError(f"{wheel.name} has none of the required files", hint="it may be another build of the wheel")
    return count


def _target_path(name: str, takes: tuple[WheelContent, ...], target: Path) -> Path | None:
    if ".." in PurePosixPath(name).parts or name.startswith("/"):
        return None
    for part in takes:
        if name.startswith(part.prefix):
            path = target / f"{part.to}{name[len(part.prefix) :]}"
            return None if part.missing_only and path.exists() else path
    return None
