"""Enables HIP instead of CUDA as CMake language inside if(USE_ROCM). Parameters: define.

The HIP commands are those of CMake 3.21 and of ROCm's own packages:
https://cmake.org/cmake/help/latest/release/3.21.html, https://rocm.docs.amd.com/en/latest/conceptual/cmake-packages.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocm3d.apply.rewrite import RewriteRefusedError, Rewrite
from rocm3d.model.text import Text
from rocm3d.syntax.cmake_fold import ROCM_SWITCH, CMakeCommand, CMakeFoldError, commands, fold_cmake

if TYPE_CHECKING:
    from rocm3d.model.recipe import Parameters

_ROCM = re.compile(rb"(?i)(?<![a-z0-9])(rocm|hip)(?![a-z0-9])|_(rocm|hip)\b")
_VARIABLE = re.compile(rb"\$\{(\w+)\}")
_SOURCES = (b"add_library", b"add_executable", b"target_sources")
_PACKAGES = (b"CUDA", b"CUDAToolkit")
_LINKED = {b"CUDA::cudart": b"hip::host", b"CUDA::cudart_static": b"hip::host"}


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Inserts a ROCm variant before each command that needs CUDA; the NVIDIA commands stay byte for byte."""
    if str(parameters.get("define", "")).encode() not in (b"", ROCM_SWITCH):
        raise RewriteRefusedError(f"isolation can be proven only for the guard {ROCM_SWITCH.decode()}")
    try:
        found = list(commands(data))
        fold_cmake(data)
    except CMakeFoldError as error:
        raise RewriteRefusedError(f"does not parse as CMake: {error}") from error
    if any(_ROCM.search(word) for command in found for word in command.arguments):
        return data  # has a ROCm branch, or uses a name that looks like one
    if not any(_turned_on(command) for command in found):
        return data
    newline, out, at = Text(data).newline, [], 0
    for command in found:
        start, end = _whole_lines(data, command)
        lines = [*_instead(command)]
        behind = [*_marked(command, found)]
        if not lines and not behind:
            continue
        if data[start : command.start].strip() or data[command.end : end].strip()[:1] not in (b"", b"#"):
            raise RewriteRefusedError("two commands share a line")
        out += [data[at:start], *_guarded(data, (start, end), lines, behind, newline)]
        at = end
    return b"".join([*out, data[at:]])


def _guarded(
    data: bytes, place: tuple[int, int], lines: list[bytes], behind: list[bytes], newline: bytes
) -> list[bytes]:
    """The command's lines with a ROCm variant before them, and ROCm-only lines after them."""
    own = data[slice(*place)]
    indent = own[: len(own) - len(own.lstrip(b" \t"))]
    ended = own if own.endswith(b"\n") else own + newline
    out = [ended]
    if lines:
        inside = [indent + b"  " + line for line in lines]
        head = newline.join([indent + b"if(" + ROCM_SWITCH + b")", *inside, indent + b"else()", b""])
        out = [head, ended, indent + b"endif()" + newline]
    if behind:
        inside = [indent + b"  " + line for line in behind]
        out.append(newline.join([indent + b"if(" + ROCM_SWITCH + b")", *inside, indent + b"endif()", b""]))
    if not own.endswith(b"\n"):
        raise RewriteRefusedError("the last line has no newline")
    return out


def _turned_on(command: CMakeCommand) -> bool:
    if command.name == b"project":
        return b"CUDA" in command.arguments[1:]
    if command.name == b"enable_language":
        return b"CUDA" in command.arguments
    return command.name == b"find_package" and command.arguments[:1] in [(name,) for name in _PACKAGES]


def _instead(command: CMakeCommand) -> Iterator[bytes]:
    """The ROCm variant of a command; nothing if the command can stay."""
    if command.name.startswith(b"cuda_"):
        raise RewriteRefusedError(f"{command.name.decode()}() belongs to FindCUDA and has no HIP counterpart")
    words = command.arguments
    if _turned_on(command) and command.name != b"find_package":
        first = 1 if command.name == b"project" else 0
        languages = (b"HIP" if word == b"CUDA" else word for word in words[first:])
        yield command.name + b"(" + b" ".join([*words[:first], *languages]) + b")"
    elif _turned_on(command):
        yield b"find_package(hip" + (b" REQUIRED)" if b"REQUIRED" in words else b")")
    elif command.name == b"target_link_libraries" and any(b"CUDA::" in word for word in words):
        strange = [word for word in words if b"CUDA::" in word and word not in _LINKED]
        if strange:
            raise RewriteRefusedError(f"no counterpart on ROCm is known for {strange[0].decode('utf-8', 'replace')}")
        taken = dict.fromkeys(_LINKED.get(word, word) for word in words)
        yield command.name + b"(" + b" ".join(taken) + b")"


def _marked(command: CMakeCommand, found: list[CMakeCommand]) -> Iterator[bytes]:
    """Sets the language of a target's CUDA sources to HIP."""
    if command.name not in _SOURCES:
        return
    named = [word for word in command.arguments[1:] if word.strip(b'"').endswith(b".cu")]
    for word in command.arguments[1:]:
        named += [word] if _is_list_of_cuda(word, found) else []
    if named:
        yield b"set_source_files_properties(" + b" ".join(dict.fromkeys(named)) + b" PROPERTIES LANGUAGE HIP)"


def _is_list_of_cuda(word: bytes, found: list[CMakeCommand]) -> bool:
    """Whether a variable holds only .cu files; a mix with other files is refused."""
    name = _VARIABLE.fullmatch(word.strip(b'"'))
    if name is None:
        return False
    setting = [item for item in found if item.name in (b"set", b"list", b"file") and name[1] in item.arguments]
    files = [text.strip(b'"') for item in setting for text in item.arguments if b"." in text]
    cuda = [text for text in files if text.endswith(b".cu")]
    if cuda and len(cuda) < len(files):
        raise RewriteRefusedError(f"{word.decode('utf-8', 'replace')} mixes .cu files with other files")
    return bool(cuda)


def _whole_lines(data: bytes, command: CMakeCommand) -> tuple[int, int]:
    """Offsets of the start of a command's first line and of the end of its last."""
    start = data.rfind(b"\n", 0, command.start) + 1
    end = data.find(b"\n", command.end)
    return start, len(data) if end < 0 else end + 1


rewrite = Rewrite(__name__, edit)
