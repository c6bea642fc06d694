"""Translation units: the sources of an extension, with the flags of a build on ROCm."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from rocm3d.verify.compilation.declared_extension import DEVICE_SUFFIXES, HOST_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rocm3d.toolchain.torch_kit import TorchKit
    from rocm3d.verify.compilation.declared_extension import DeclaredExtension

Language = Literal["hip", "c++"]

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"\n]+)[>\"]", re.MULTILINE)
# Headers of torch and of GPU runtimes: a port cannot break a unit that includes none of them.
_GPU_HEADERS = re.compile(
    rb"^(torch|ATen|c10|pybind11|cuda|cub|cublas|curand|cusparse|cusolver|thrust|hip|roc|device_)"
)
_DEFAULT_OPTIMIZATION = "-O3"  # default of hipcc
_TARGET_FLAGS = ("--offload-arch", "--cuda-gpu-arch", "-gencode", "-arch=")


@dataclass(frozen=True)
class TranslationUnit:
    """`source`: the original; `file`: the hipified file that is compiled. Both are relative to the repository."""

    source: str
    file: str
    extension: str
    language: Language
    flags: tuple[str, ...]


def translation_units(
    extension: DeclaredExtension, tree: Path, translated: Mapping[str, str], torch: TorchKit | None
) -> Iterator[TranslationUnit]:
    """Sources of an extension that exist and that a port can affect. `translated`: hipified files by source."""
    for source in extension.sources:
        suffix = PurePosixPath(source).suffix
        if not (tree / source).is_file() or suffix not in DEVICE_SUFFIXES | HOST_SUFFIXES:
            continue
        is_device = suffix in DEVICE_SUFFIXES
        if is_device or uses_gpu_headers(tree, source, extension.include_dirs):
            flags = hip_flags(extension, torch, device=is_device)
            yield TranslationUnit(
                source, translated.get(source, source), extension.name, "hip" if is_device else "c++", flags
            )


def hip_flags(extension: DeclaredExtension, torch: TorchKit | None, *, device: bool) -> tuple[str, ...]:
    """The flags of torch's BuildExtension under ROCm, without those that select a target."""
    if extension.jit and torch is not None:
        return _jit_flags(extension, torch, device=device)
    script_flags = extension.device_flags if device else extension.host_flags
    own = [hipify_flag(word) if device else word for word in script_flags]
    include = tuple(f"-I{folder}" for folder in extension.include_dirs)
    include = (_DEFAULT_OPTIMIZATION, *include) if device else include
    if torch is None or not extension.uses_torch:
        return (*include, *extension.macros, *_without_target_flags(own))
    common = (*torch.flags.common, *(torch.flags.device if device else ()))
    module = extension.name.rsplit(".", 1)[-1]
    names = ("-DTORCH_API_INCLUDE_EXTENSION_H", f"-DTORCH_EXTENSION_NAME={module}")
    standard = () if any(word.startswith("-std=") for word in own) else (f"-std={torch.flags.standard}",)
    return (*include, *extension.macros, *common, *_without_target_flags(own), *names, *standard)


def _jit_flags(extension: DeclaredExtension, torch: TorchKit, *, device: bool) -> tuple[str, ...]:
    """The flags of `cpp_extension.load`: device sources get the host flags too, and no flag is hipified."""
    include = tuple(f"-I{folder}" for folder in extension.include_dirs)
    names = (f"-DTORCH_EXTENSION_NAME={extension.name}", "-DTORCH_API_INCLUDE_EXTENSION_H", *include)
    standard = f"-std={torch.flags.standard}"
    if not device:
        return (*names, standard, *_without_target_flags(extension.host_flags), *torch.flags.common)
    device_flags = (*torch.flags.common, *torch.flags.device, standard, *_without_target_flags(extension.device_flags))
    return (_DEFAULT_OPTIMIZATION, "-DWITH_HIP", *names, *_without_target_flags(extension.host_flags), *device_flags)


def hipify_flag(flag: str) -> str:
    """As torch does for device sources: the first CUDA in the name of an nvcc flag becomes HIP."""
    name, sign, value = flag.partition("=")
    changes = flag.startswith("-") and not flag.startswith("-I") and "CUDA" in name
    return f"{name.replace('CUDA', 'HIP', 1)}{sign}{value}" if changes else flag


def uses_gpu_headers(tree: Path, source: str, include_dirs: Sequence[str]) -> bool:
    """Whether a C++ source includes a header of torch or of a GPU runtime, directly or through the repository."""
    visited, queue = set(), [source]
    while queue:
        path = queue.pop()
        if path in visited:
            continue
        visited.add(path)
        try:
            text = (tree / path).read_bytes()
        except OSError:
            continue
        for sign, name in _INCLUDE.findall(text):
            if _GPU_HEADERS.match(name):
                return True
            folders = [posixpath.dirname(path)] if sign == b'"' else []
            for folder in (*folders, *include_dirs):
                candidate = posixpath.normpath(posixpath.join(folder, name.decode(errors="replace")))
                if (tree / candidate).is_file():
                    queue.append(candidate)
                    break
    return False


def _without_target_flags(words: Sequence[str]) -> list[str]:
    return [word for word in words if not word.startswith(_TARGET_FLAGS)]
