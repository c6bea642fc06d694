"""Finds compilers for AMD targets: an installed ROCm, a system clang with HIP, or the toolchain made of wheels."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from rocm3d.model.errors import MachineError
from rocm3d.model.toolchain import DetectedToolchain, ToolchainKind, Toolchains, WheelToolchain
from rocm3d.toolchain import prepared
from rocm3d.toolchain.compiler import Compiler
from rocm3d.workspace.process import run
from rocm3d.workspace.programs import find_program

_VARIABLES = ("ROCM_PATH", "ROCM_HOME", "HIP_PATH")
_SDK = "_rocm_sdk_core"
_CLANGS = ("llvm/bin/clang++", "lib/llvm/bin/clang++", "bin/amdclang++")
_VERSION = re.compile(r"^#define HIP_VERSION_(MAJOR|MINOR|PATCH) +(\d+)", re.MULTILINE)


def newest_recipe(recipes: Mapping[str, WheelToolchain]) -> WheelToolchain:
    """The recipe with the newest HIP headers."""
    return max(recipes.values(), key=lambda recipe: tuple(int(part) for part in recipe.hip.split(".")))


def toolchains(recipes: Mapping[str, WheelToolchain]) -> Toolchains:
    """Every kind of toolchain, with the reason if it cannot be used."""
    rocm, clang = installed_rocm(), system_clang(newest_recipe(recipes).targets[0])
    toolchain_list = (
        rocm.about if rocm else DetectedToolchain(kind="rocm", title="an installed ROCm", lacks="not found"),
        clang.about if clang else DetectedToolchain(kind="clang", title="a system clang with HIP", lacks="not found"),
        prepared.find(newest_recipe(recipes)),
    )
    return Toolchains(found=toolchain_list)


def find_compiler(recipes: Mapping[str, WheelToolchain], kind: ToolchainKind | None = None) -> Compiler:
    """The first usable compiler, or the one of `kind`. Raises MachineError with instructions if there is none."""
    if kind in (None, "rocm") and (rocm := installed_rocm()) is not None:
        return rocm
    # A system clang often has old headers, so a prepared wheel toolchain comes first.
    recipe = newest_recipe(recipes)
    about = prepared.find(recipe)
    if kind in (None, "wheels") and not about.lacks:
        return prepared.compiler(recipe, about=about)
    if kind in (None, "clang") and (clang := system_clang(recipe.targets[0])) is not None:
        return clang
    raise MachineError(f"no compiler for AMD targets found ({about.lacks})")


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
        clang = find_program(name, os.environ if search is None else {"PATH": search})
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
