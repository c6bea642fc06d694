"""All ROCm installations: in /opt, from the Linux distribution, as wheels, or in a conda environment."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.snapshot import RocmInstall

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rocm3d.host.files import Files
    from rocm3d.host.installed_torch import Answer

_LIBRARIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
_RUNTIME = "libamdhip64.so.*"
_COMPILERS = ("bin/hipcc", "bin/amdclang++", "lib/llvm/bin/amdclang++", "lib/llvm/bin/clang++")
# Import folder of the ROCm SDK wheels; the release is in the name of their dist-info folder.
_WHEELS = "_rocm_sdk_core"


def read_installs(files: Files, answer: Answer | None) -> tuple[RocmInstall, ...]:
    """System installations first, then those of the interpreter's environment."""
    return (*_opt(files), *_distribution(files), *(_environment(answer) if answer else ()))


def _opt(files: Files) -> Iterator[RocmInstall]:
    """/opt/rocm is often a link to another installation, directly or through /etc/alternatives."""
    seen = set()
    folders = [f"/opt/{name}" for name in files.match("/opt", "rocm*")]
    folders += [f"{folder}/{name}" for folder in folders for name in files.match(folder, "core*")]
    for place in folders:
        real, version = files.leads_to(place), files.text(f"{place}/.info/version").partition("-")[0]
        if real is None or real in seen or not (version or files.match(f"{place}/lib", _RUNTIME)):
            continue
        seen.add(real)
        has_compiler = any(files.there(f"{place}/{name}") for name in _COMPILERS)
        release = version or _release(files.match(f"{place}/lib", _RUNTIME))
        yield RocmInstall(form="system", path=place, version=release[:64], compiler=has_compiler)


def _distribution(files: Files) -> Iterator[RocmInstall]:
    for folder in _LIBRARIES:
        names = files.match(folder, _RUNTIME)
        if names:
            compiler = files.there("/usr/bin/hipcc")
            yield RocmInstall(form="distribution", path=folder, version=_release(names), compiler=compiler)
            return


def _environment(answer: Answer) -> Iterator[RocmInstall]:
    for folder in answer.folders:
        wheels = folder / _WHEELS
        if wheels.is_dir():
            named = sorted(folder.glob("rocm_sdk_core-*.dist-info"))
            version = named[-1].name.removesuffix(".dist-info").split("-")[1] if named else ""
            yield RocmInstall(form="pip", path=str(wheels)[:4096], version=version[:64], compiler=_has_compiler(wheels))
            break
    if (answer.prefix / "conda-meta").is_dir():
        names = [path.name for path in sorted((answer.prefix / "lib").glob(_RUNTIME))]
        if names:
            path, compiler = str(answer.prefix)[:4096], _has_compiler(answer.prefix)
            yield RocmInstall(form="conda", path=path, version=_release(names), compiler=compiler)


def _has_compiler(folder: Path) -> bool:
    return any((folder / name).exists() for name in _COMPILERS)


def _release(names: Iterable[str]) -> str:
    """Version from library names: libamdhip64.so.7.2.70200 is release 7.2. The most precise name wins."""
    found = (re.match(r"libamdhip64\.so\.(\d{1,3}(?:\.\d{1,3})?)", name) for name in names)
    return max((match.group(1) for match in found if match), key=len, default="")
