"""HIP in place of CUDA as a language of CMake, between if(USE_ROCM) and endif(). Parameters: define.

The commands of HIP are those of CMake 3.21 and of ROCm's own packages:
https://cmake.org/cmake/help/latest/release/3.21.html, https://rocm.docs.amd.com/en/latest/conceptual/cmake-packages.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocm3d.apply.rewrite import Refuse, Rewrite
from rocm3d.model.text import Text
from rocm3d.syntax.cmake_fold import SWITCH, Command, UnfoldableCMake, commands, folded

if TYPE_CHECKING:
    from rocm3d.model.recipe import Parameters

_ROCM = re.compile(rb"(?i)(?<![a-z0-9])(rocm|hip)(?![a-z0-9])|_(rocm|hip)\b")
_VARIABLE = re.compile(rb"\$\{(\w+)\}")
_SOURCES = (b"add_library", b"add_executable", b"target_sources")
_PACKAGES = (b"CUDA", b"CUDAToolkit")
_LINKED = {b"CUDA::cudart": b"hip::host", b"CUDA::cudart_static": b"hip::host"}


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Each command that needs CUDA gets one for ROCm before it; those of NVIDIA stay as they are, byte for byte."""
    if str(parameters.get("define", "")).encode() not in (b"", SWITCH):
        raise Refuse(f"only {SWITCH.decode()} is a guard that can be proven")
    try:
        found = list(commands(data))
        folded(data)
    except UnfoldableCMake as error:
        raise Refuse(f"does not read as CMake: {error}") from error
    if any(_ROCM.search(word) for command in found for word in command.arguments):
        return data  # it has a branch for ROCm, or something of that name
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
            raise Refuse("two commands share a line")
        out += [data[at:start], *_guarded(data, (start, end), lines, behind, newline)]
        at = end
    return b"".join([*out, data[at:]])


def _guarded(
    data: bytes, place: tuple[int, int], lines: list[bytes], behind: list[bytes], newline: bytes
) -> list[bytes]:
    """The command's own lines, with a choice around them and what is to follow."""
    own = data[slice(*place)]
    indent = own[: len(own) - len(own.lstrip(b" \t"))]
    ended = own if own.endswith(b"\n") else own + newline
    out = [ended]
    if lines:
        inside = [indent + b"  " + line for line in lines]
        head = newline.join([indent + b"if(" + SWITCH + b")", *inside, indent + b"else()", b""])
        out = [head, ended, indent + b"endif()" + newline]
    if behind:
        inside = [indent + b"  " + line for line in behind]
        out.append(newline.join([indent + b"if(" + SWITCH + b")", *inside, indent + b"endif()", b""]))
    if not own.endswith(b"\n"):
        raise Refuse("the last line has no end, and would get one")
    return out


def _turned_on(command: Command) -> bool:
    if command.name == b"project":
        return b"CUDA" in command.arguments[1:]
    if command.name == b"enable_language":
        return b"CUDA" in command.arguments
    return command.name == b"find_package" and command.arguments[:1] in [(name,) for name in _PACKAGES]


def _instead(command: Command) -> Iterator[bytes]:
    """What stands for a command on ROCm; nothing where it can stay."""
    if command.name.startswith(b"cuda_"):
        raise Refuse(f"{command.name.decode()}() is of FindCUDA, and HIP has none like it")
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
            raise Refuse(f"what stands for {strange[0].decode('utf-8', 'replace')} on ROCm is not known")
        taken = dict.fromkeys(_LINKED.get(word, word) for word in words)
        yield command.name + b"(" + b" ".join(taken) + b")"


def _marked(command: Command, found: list[Command]) -> Iterator[bytes]:
    """The sources of a target that are CUDA, told to be HIP."""
    if command.name not in _SOURCES:
        return
    named = [word for word in command.arguments[1:] if word.strip(b'"').endswith(b".cu")]
    for word in command.arguments[1:]:
        named += [word] if _is_list_of_cuda(word, found) else []
    if named:
        yield b"set_source_files_properties(" + b" ".join(dict.fromkeys(named)) + b" PROPERTIES LANGUAGE HIP)"


def _is_list_of_cuda(word: bytes, found: list[Command]) -> bool:
    """Whether a variable holds .cu files alone; one that holds other files, too, is refused."""
    name = _VARIABLE.fullmatch(word.strip(b'"'))
    if name is None:
        return False
    setting = [item for item in found if item.name in (b"set", b"list", b"file") and name[1] in item.arguments]
    files = [text.strip(b'"') for item in setting for text in item.arguments if b"." in text]
    cuda = [text for text in files if text.endswith(b".cu")]
    if cuda and len(cuda) < len(files):
        raise Refuse(f"{word.decode('utf-8', 'replace')} holds .cu files among others")
    return bool(cuda)


def _whole_lines(data: bytes, command: Command) -> tuple[int, int]:
    """From the beginning of a command's first line to the end of its last."""
    start = data.rfind(b"\n", 0, command.start) + 1
    end = data.find(b"\n", command.end)
    return start, len(data) if end < 0 else end + 1


rewrite = Rewrite(__name__, edit)
