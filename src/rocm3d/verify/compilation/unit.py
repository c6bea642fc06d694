"""Translation units: the sources of an extension, with the flags of a build on ROCm."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from rocm3d.verify.compilation.declared import DEVICE, HOST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rocm3d.toolchain.torch_kit import TorchKit
    from rocm3d.verify.compilation.declared import Declared

Language = Literal["hip", "c++"]

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"\n]+)[>\"]", re.MULTILINE)
# Headers of torch and of GPU runtimes: a port cannot break a unit that includes none of them.
_CONCERNS = re.compile(rb"^(torch|ATen|c10|pybind11|cuda|cub|cublas|curand|cusparse|cusolver|thrust|hip|roc|device_)")
_OPTIMISED = "-O3"  # default of hipcc
_OURS_TO_CHOOSE = ("--offload-arch", "--cuda-gpu-arch", "-gencode", "-arch=")


@dataclass(frozen=True)
class Unit:
    """`source`: the original; `file`: the hipified file that is compiled. Both are relative to the repository."""

    source: str
    file: str
    extension: str
    language: Language
    flags: tuple[str, ...]


def units(extension: Declared, tree: Path, translated: Mapping[str, str], torch: TorchKit | None) -> Iterator[Unit]:
    """Sources of an extension that exist and that a port can affect. `translated`: hipified files by source."""
    for source in extension.sources:
        suffix = PurePosixPath(source).suffix
        if not (tree / source).is_file() or suffix not in DEVICE | HOST:
            continue
        is_device = suffix in DEVICE
        if is_device or concerns(tree, source, extension.include_dirs):
            flags = hip_flags(extension, torch, device=is_device)
            yield Unit(source, translated.get(source, source), extension.name, "hip" if is_device else "c++", flags)


def hip_flags(extension: Declared, torch: TorchKit | None, *, device: bool) -> tuple[str, ...]:
    """The flags of torch's BuildExtension under ROCm, without those that select a target."""
    if extension.jit and torch is not None:
        return _loaded_flags(extension, torch, device=device)
    given = extension.device_flags if device else extension.host_flags
    own = [hipified_flag(word) if device else word for word in given]
    include = tuple(f"-I{folder}" for folder in extension.include_dirs)
    include = (_OPTIMISED, *include) if device else include
    if torch is None or not extension.uses_torch:
        return (*include, *extension.macros, *_kept(own))
    common = (*torch.flags.common, *(torch.flags.device if device else ()))
    module = extension.name.rsplit(".", 1)[-1]
    names = ("-DTORCH_API_INCLUDE_EXTENSION_H", f"-DTORCH_EXTENSION_NAME={module}")
    standard = () if any(word.startswith("-std=") for word in own) else (f"-std={torch.flags.standard}",)
    return (*include, *extension.macros, *common, *_kept(own), *names, *standard)


def _loaded_flags(extension: Declared, torch: TorchKit, *, device: bool) -> tuple[str, ...]:
    """The flags of `cpp_extension.load`: device sources get the host flags too, and no flag is hipified."""
    include = tuple(f"-I{folder}" for folder in extension.include_dirs)
    names = (f"-DTORCH_EXTENSION_NAME={extension.name}", "-DTORCH_API_INCLUDE_EXTENSION_H", *include)
    standard = f"-std={torch.flags.standard}"
    if not device:
        return (*names, standard, *_kept(extension.host_flags), *torch.flags.common)
    given = (*torch.flags.common, *torch.flags.device, standard, *_kept(extension.device_flags))
    return (_OPTIMISED, "-DWITH_HIP", *names, *_kept(extension.host_flags), *given)


def hipified_flag(flag: str) -> str:
    """As torch does for device sources: the first CUDA in the name of an nvcc flag becomes HIP."""
    name, sign, value = flag.partition("=")
    changes = flag.startswith("-") and not flag.startswith("-I") and "CUDA" in name
    return f"{name.replace('CUDA', 'HIP', 1)}{sign}{value}" if changes else flag


def concerns(tree: Path, source: str, include_dirs: Sequence[str]) -> bool:
    """Whether a C++ source includes a header of torch or of a GPU runtime, directly or through the repository."""
    seen, waiting = set(), [source]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        try:
            text = (tree / path).read_bytes()
        except OSError:
            continue
        for sign, name in _INCLUDE.findall(text):
            if _CONCERNS.match(name):
                return True
            places = [posixpath.dirname(path)] if sign == b'"' else []
            for folder in (*places, *include_dirs):
                candidate = posixpath.normpath(posixpath.join(folder, name.decode(errors="replace")))
                if (tree / candidate).is_file():
                    waiting.append(candidate)
                    break
    return False


def _kept(words: Sequence[str]) -> list[str]:
    return [word for word in words if not word.startswith(_OURS_TO_CHOOSE)]
