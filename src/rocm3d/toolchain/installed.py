"""Finds an installed ROCm (system or pip SDK) and a system clang that supports HIP."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.toolchain import DetectedToolchain
from rocm3d.toolchain.compiler import Compiler
from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_VARIABLES = ("ROCM_PATH", "ROCM_HOME", "HIP_PATH")
_SDK = "_rocm_sdk_core"
_CLANGS = ("llvm/bin/clang++", "lib/llvm/bin/clang++", "bin/amdclang++")
_VERSION = re.compile(r"^#define HIP_VERSION_(MAJOR|MINOR|PATCH) +(\d+)", re.MULTILINE)


def rocm_roots(environment: Mapping[str, str] = os.environ, default_parent: Path = Path("/opt")) -> Iterator[Path]:
    """Possible ROCm folders, best first: environment variables, the pip SDK, /opt."""
    for name in _VARIABLES:
        if environment.get(name):
            yield Path(environment[name])
    spec = importlib.util.find_spec(_SDK)
    if spec is not None and spec.origin is not None:
        yield Path(spec.origin).parent
    yield default_parent / "rocm"
    yield from sorted(default_parent.glob("rocm-*"), reverse=True)


def installed_rocm(roots: Iterator[Path] | None = None) -> Compiler | None:
    """The compiler of the first root that has both clang and the HIP headers; None if there is none."""
    for root in roots if roots is not None else rocm_roots():
        clang = next((root / name for name in _CLANGS if (root / name).is_file()), None)
        version = hip_version(root / "include")
        if clang is not None and version is not None:
            about = DetectedToolchain(kind="rocm", title=f"ROCm with HIP {version} in {root}", hip=version)
            command = (str(clang), "-x", "hip", f"--rocm-path={root}", "-isystem", str(root / "include"))
            return Compiler(about, command)
    return None


def system_clang(gfx: str, search: str | None = None) -> Compiler | None:
    """A clang on the search path that finds a device library without options; None if there is none."""
    for name in ("clang++", *(f"clang++-{major}" for major in range(29, 14, -1))):
        clang = shutil.which(name, path=search)
        if clang is None:
            continue
        finished = run(
            [clang, "-x", "hip", "--cuda-device-only", f"--offload-arch={gfx}", "-S", os.devnull, "-o", os.devnull]
        )
        if finished.code == 0:
            version = hip_version(Path("/usr/include")) or ""
            about = DetectedToolchain(
                kind="clang", title=f"{clang} with HIP {version or 'headers of unknown version'}", hip=version
            )
            return Compiler(about, (clang, "-x", "hip"))
    return None


def hip_version(include: Path) -> str | None:
    """The version in hip/hip_version.h; None if there is no such header."""
    try:
        text = (include / "hip" / "hip_version.h").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    parts = dict(_VERSION.findall(text))
    return ".".join(parts.get(part, "0") for part in ("MAJOR", "MINOR", "PATCH")) if parts else None
