"""Enables HIP instead of CUDA as CMake language inside if(USE_ROCM). Parameters: define.

The HIP commands are those of CMake 3.21 and of ROCm's own packages:
https://cmake.org/cmake/help/latest/release/3.21.html, https://rocm.docs.amd.com/en/latest/conceptual/cmake-packages.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.model.recipe import Parameters
from rocm3d.model.text import Text
from rocm3d.syntax.cmake_fold import ROCM_SWITCH, CMakeCommand, CMakeFoldError, commands, fold_cmake

_ROCM = re.compile(rb"(?i)(?<![a-z0-9])(rocm|hip)(?![a-z0-9])|_(rocm|hip)\b")
_VARIABLE = re.compile(rb"\$\{(\w+)\}")
_SOURCES = (b"add_library", b"add_executable", b"target_sources")
_PACKAGES = (b"CUDA", b"CUDAToolkit")
_ROCM_LIBRARIES = {b"CUDA::cudart": b"hip::host", b"CUDA::cudart_static": b"hip::host"}


def edit(data: bytes, parameters: Parameters) -> bytes:
    """Inserts a ROCm variant before each command that needs CUDA; the NVIDIA commands stay byte for byte."""
    if str(parameters.get("define", "")).encode() not in (b"", ROCM_SWITCH):
        raise RewriteRefusedError(f"isolation can be proven only for the guard {ROCM_SWITCH.decode()}")
    try:
        all_commands = list(commands(data))
        fold_cmake(data)
    except CMakeFoldError as error:
        raise RewriteRefusedError(f"does not parse as CMake: {error}") from error
    if any(_ROCM.search(argument) for command in all_commands for argument in command.arguments):
        return data  # has a ROCm branch, or uses a name that looks like one
    if not any(_enables_cuda(command) for command in all_commands):
        return data
    newline, out, position = Text(data).newline, [], 0
    for command in all_commands:
        start, end = _whole_lines(data, command)
        rocm_lines = [*_rocm_variant(command)]
        following_lines = [*_source_properties(command, all_commands)]
        if not rocm_lines and not following_lines:
            continue
        if data[start : command.start].strip() or data[command.end : end].strip()[:1] not in (b"", b"#"):
            raise RewriteRefusedError("two commands share a line")
        out += [data[position:start], *_guarded(data, (start, end), rocm_lines, following_lines, newline)]
        position = end
    return b"".join([*out, data[position:]])


def _guarded(
    data: bytes, span: tuple[int, int], rocm_lines: list[bytes], following_lines: list[bytes], newline: bytes
) -> list[bytes]:
    """The command's lines with a ROCm variant before them, and ROCm-only lines after them."""
    original = data[slice(*span)]
    indent = original[: len(original) - len(original.lstrip(b" \t"))]
    terminated = original if original.endswith(b"\n") else original + newline
    out = [terminated]
    if rocm_lines:
        inside = [indent + b"  " + line for line in rocm_lines]
        head = newline.join([indent + b"if(" + ROCM_SWITCH + b")", *inside, indent + b"else()", b""])
        out = [head, terminated, indent + b"endif()" + newline]
    if following_lines:
        inside = [indent + b"  " + line for line in following_lines]
        out.append(newline.join([indent + b"if(" + ROCM_SWITCH + b")", *inside, indent + b"endif()", b""]))
    if not original.endswith(b"\n"):
        raise RewriteRefusedError("the last line has no newline")
    return out


def _enables_cuda(command: CMakeCommand) -> bool:
    if command.name == b"project":
        return b"CUDA" in command.arguments[1:]
    if command.name == b"enable_language":
        return b"CUDA" in command.arguments
    return command.name == b"find_package" and command.arguments[:1] in [(name,) for name in _PACKAGES]


def _rocm_variant(command: CMakeCommand) -> Iterator[bytes]:
    """The ROCm variant of a command; nothing if the command can stay."""
    if command.name.startswith(b"cuda_"):
        raise RewriteRefusedError(f"{command.name.decode()}() belongs to FindCUDA and has no HIP counterpart")
    arguments = command.arguments
    if _enables_cuda(command) and command.name != b"find_package":
        first = 1 if command.name == b"project" else 0
        languages = (b"HIP" if argument == b"CUDA" else argument for argument in arguments[first:])
        yield command.name + b"(" + b" ".join([*arguments[:first], *languages]) + b")"
    elif _enables_cuda(command):
        yield b"find_package(hip" + (b" REQUIRED)" if b"REQUIRED" in arguments else b")")
    elif command.name == b"target_link_libraries" and any(b"CUDA::" in argument for argument in arguments):
        unknown = [argument for argument in arguments if b"CUDA::" in argument and argument not in _ROCM_LIBRARIES]
        if unknown:
            raise RewriteRefusedError(f"no counterpart on ROCm is known for {unknown[0].decode('utf-8', 'replace')}")
        libraries = dict.fromkeys(_ROCM_LIBRARIES.get(argument, argument) for argument in arguments)
        yield command.name + b"(" + b" ".join(libraries) + b")"


def _source_properties(command: CMakeCommand, all_commands: list[CMakeCommand]) -> Iterator[bytes]:
    """Sets the language of a target's CUDA sources to HIP."""
    if command.name not in _SOURCES:
        return
    sources = [argument for argument in command.arguments[1:] if argument.strip(b'"').endswith(b".cu")]
    for argument in command.arguments[1:]:
        sources += [argument] if _holds_only_cuda_sources(argument, all_commands) else []
    if sources:
        yield b"set_source_files_properties(" + b" ".join(dict.fromkeys(sources)) + b" PROPERTIES LANGUAGE HIP)"


def _holds_only_cuda_sources(argument: bytes, all_commands: list[CMakeCommand]) -> bool:
    """Whether a variable holds only .cu files; a mix with other files is refused."""
    variable = _VARIABLE.fullmatch(argument.strip(b'"'))
    if variable is None:
        return False
    setting_commands = [
        command
        for command in all_commands
        if command.name in (b"set", b"list", b"file") and variable[1] in command.arguments
    ]
    files = [text.strip(b'"') for command in setting_commands for text in command.arguments if b"." in text]
    cuda = [text for text in files if text.endswith(b".cu")]
    if cuda and len(cuda) < len(files):
        raise RewriteRefusedError(f"{argument.decode('utf-8', 'replace')} mixes .cu files with other files")
    return bool(cuda)


def _whole_lines(data: bytes, command: CMakeCommand) -> tuple[int, int]:
    """Offsets of the start of a command's first line and of the end of its last."""
    start = data.rfind(b"\n", 0, command.start) + 1
    end = data.find(b"\n", command.end)
    return start, len(data) if end < 0 else end + 1
