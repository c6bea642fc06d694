"""Translation units: the sources of an extension, with the flags of a build on ROCm that clang accepts."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from rocm3d.toolchain.compiler import Compiler
from rocm3d.toolchain.torch_kit import TorchKit
from rocm3d.verify.compilation import diagnostics
from rocm3d.verify.compilation.build_script import DEVICE_SUFFIXES, HOST_SUFFIXES, DeclaredExtension
from rocm3d.verify.compilation.classify import CompileProblem, ErrorCodes

Language = Literal["hip", "c++"]

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"\n]+)[>\"]", re.MULTILINE)
# Headers of torch and of GPU runtimes: a port cannot break a unit that includes none of them.
_GPU_HEADERS = re.compile(
    rb"^(torch|ATen|c10|pybind11|cuda|cub|cublas|curand|cusparse|cusolver|thrust|hip|roc|device_)"
)
_DEFAULT_OPTIMIZATION = "-O3"  # default of hipcc
_TARGET_FLAGS = ("--offload-arch", "--cuda-gpu-arch", "-gencode", "-arch=")
_MAX_ROUNDS = 8


@dataclass(frozen=True)
class TranslationUnit:
    """`source`: the original; `file`: the hipified file that is compiled. Both are relative to the repository."""

    source: str
    file: str
    extension: str
    language: Language
    flags: tuple[str, ...]


def translation_units(
    extension: DeclaredExtension, tree: Path, translated: Mapping[str, str], torch: TorchKit
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


def hip_flags(extension: DeclaredExtension, torch: TorchKit, *, device: bool) -> tuple[str, ...]:
    """The flags of torch's BuildExtension under ROCm, without those that select a target."""
    if extension.jit:
        return _jit_flags(extension, torch, device=device)
    script_flags = extension.device_flags if device else extension.host_flags
    own = [hipify_flag(word) if device else word for word in script_flags]
    include = tuple(f"-I{folder}" for folder in extension.include_dirs)
    include = (_DEFAULT_OPTIMIZATION, *include) if device else include
    if not extension.uses_torch:
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


@dataclass
class FlagCheck:
    """Finds the flags that clang rejects by compiling an empty file, so that they do not hide errors in the code.

    Caches results: extensions of one script share most flags.
    """

    compiler: Compiler
    folder: Path
    codes: ErrorCodes
    _cache: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = field(default_factory=dict)

    def rejected_flags(self, extension: DeclaredExtension) -> tuple[str, ...]:
        """Rejected flags as the script spells them, device flags first."""
        device = [word for word in extension.device_flags if not word.startswith("--offload-arch")]
        return (*self._cached_rejected("hip", tuple(device)), *self._cached_rejected("c++", extension.host_flags))

    def problem(self, flag: str, extension: DeclaredExtension, tree: Path) -> CompileProblem:
        """A rejected flag, with its position in the script."""
        message = f"clang does not accept {flag}"
        code = self.codes.find(f"unknown argument: '{flag}'\n\n")
        line, column = _flag_position(flag, tree / extension.script) or (extension.line, 0)
        return CompileProblem(
            extension.script, line, column, message, code.code if code else "", code.rule if code else ""
        )

    def _cached_rejected(self, language: str, flags: tuple[str, ...]) -> tuple[str, ...]:
        if not flags:
            return ()
        if (language, flags) not in self._cache:
            self._cache[language, flags] = tuple(self._find_rejected(language, flags))
        return self._cache[language, flags]

    def _find_rejected(self, language: str, flags: tuple[str, ...]) -> list[str]:
        empty, output = self.folder / "empty.hip", self.folder / "flags" / "empty.o"
        empty.touch()
        output.parent.mkdir(exist_ok=True)
        compile_source = self.compiler.compile_host if language == "hip" else self.compiler.compile_cpp
        rejected: dict[str, None] = {}
        original_spelling = {hipify_flag(word) if language == "hip" else word: word for word in flags}
        for _ in range(_MAX_ROUNDS):
            remaining = [passed for passed, word in original_spelling.items() if word not in rejected]
            messages = compile_source(empty, output, remaining, 60.0).messages
            newly_rejected = [
                original_spelling[flag] for flag in diagnostics.unknown_flags(messages) if flag in original_spelling
            ]
            if not newly_rejected:
                break
            rejected |= dict.fromkeys(newly_rejected)
        return list(rejected)


def _flag_position(flag: str, script: Path) -> tuple[int, int] | None:
    """Line and column of a flag in a script, or of its part before `=`; None if it is not found."""
    try:
        lines = script.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    for text in (flag, flag.partition("=")[0]):
        for number, line in enumerate(lines, 1):
            if text in line and not line.lstrip().startswith("#"):
                return number, line.index(text) + 1
    return None
