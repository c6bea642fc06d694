"""All ROCm installations: in /opt, from the Linux distribution, as wheels, or in a conda environment."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.snapshot import RocmInstall

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocm3d.host.files import MachineFiles
    from rocm3d.host.installed_torch import InterpreterInfo

_LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
_RUNTIME = "libamdhip64.so.*"
_COMPILERS = ("bin/hipcc", "bin/amdclang++", "lib/llvm/bin/amdclang++", "lib/llvm/bin/clang++")
# Import folder of the ROCm SDK wheels; the release is in the name of their dist-info folder.
_SDK_FOLDER = "_rocm_sdk_core"


def read_rocm_installs(files: MachineFiles, interpreter: InterpreterInfo | None) -> tuple[RocmInstall, ...]:
    """System installations first, then those of the interpreter's environment."""
    return (
        *_opt_installs(files),
        *_distribution_installs(files),
        *(_environment_installs(interpreter) if interpreter else ()),
    )


def _opt_installs(files: MachineFiles) -> Iterator[RocmInstall]:
    """/opt/rocm is often a link to another installation, directly or through /etc/alternatives."""
    visited = set()
    folders = [f"/opt/{name}" for name in files.glob_names("/opt", "rocm*")]
    folders += [f"{folder}/{name}" for folder in folders for name in files.glob_names(folder, "core*")]
    for folder_path in folders:
        real, version = files.resolve(folder_path), files.text(f"{folder_path}/.info/version").partition("-")[0]
        if real is None or real in visited or not (version or files.glob_names(f"{folder_path}/lib", _RUNTIME)):
            continue
        visited.add(real)
        has_compiler = any(files.exists(f"{folder_path}/{name}") for name in _COMPILERS)
        release = version or _release_from_libraries(files.glob_names(f"{folder_path}/lib", _RUNTIME))
        yield RocmInstall(form="system", path=folder_path, version=release[:64], compiler=has_compiler)


def _distribution_installs(files: MachineFiles) -> Iterator[RocmInstall]:
    for folder in _LIBRARIES:
        names = files.glob_names(folder, _RUNTIME)
        if names:
            compiler = files.exists("/usr/bin/hipcc")
            yield RocmInstall(
                form="distribution", path=folder, version=_release_from_libraries(names), compiler=compiler
            )
            return


def _environment_installs(interpreter: InterpreterInfo) -> Iterator[RocmInstall]:
    for folder in interpreter.folders:
        wheels = folder / _SDK_FOLDER
        if wheels.is_dir():
            dist_infos = sorted(folder.glob("rocm_sdk_core-*.dist-info"))
            version = dist_infos[-1].name.removesuffix(".dist-info").split("-")[1] if dist_infos else ""
            yield RocmInstall(form="pip", path=str(wheels)[:4096], version=version[:64], compiler=_has_compiler(wheels))
            break
    if (interpreter.prefix / "conda-meta").is_dir():
        names = [path.name for path in sorted((interpreter.prefix / "lib").glob(_RUNTIME))]
        if names:
            path, compiler = str(interpreter.prefix)[:4096], _has_compiler(interpreter.prefix)
            yield RocmInstall(form="conda", path=path, version=_release_from_libraries(names), compiler=compiler)


def _has_compiler(folder: Path) -> bool:
    return any((folder / name).exists() for name in _COMPILERS)


def _release_from_libraries(names: Iterable[str]) -> str:
    """Version from library names: libamdhip64.so.7.2.70200 is release 7.2. The most precise name wins."""
    matches = (re.match(r"libamdhip64\.so\.(\d{1,3}(?:\.\d{1,3})?)", name) for name in names)
    return max((match.group(1) for match in matches if match), key=len, default="")
