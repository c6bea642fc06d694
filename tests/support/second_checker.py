"""The second checker of the isolation proof. It shares no code with it: nvcc, cmake, and Python itself decide.

For C++ it preprocesses every translation unit of both trees with nvcc and the flags of the tree, and compares tokens.
For CMake it configures both trees and compares the messages. For Python it compiles the edited modules with the guard
as False and compares the bytecode, and runs a small program of the case in both trees with a torch of NVIDIA.
"""

from __future__ import annotations

import dis
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize
import types
from collections.abc import Sequence
from pathlib import Path

from rocm3d.toolchain.compiler import find_nvcc

NOT_RUN = "not run"
STUBS = Path(__file__).with_name("isolation_stubs")
REAL_TORCH = Path(__file__).resolve().parents[2] / ".venv-torch/bin/python"
UNITS = (".cu", ".cpp", ".cc", ".cxx")
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\w+|\S')


def cpp_difference(before: Path, after: Path, flags: Sequence[str], *, with_lines: bool) -> str:
    """The first unit whose tokens differ; empty if none does, NOT_RUN without nvcc."""
    nvcc = find_nvcc()
    if nvcc is None:
        return NOT_RUN
    lines = [] if with_lines else ["-U__LINE__", "-D__LINE__=0", "-Xcompiler=-Wno-builtin-macro-redefined"]
    for unit in sorted(path.relative_to(before) for path in before.rglob("*") if path.suffix in UNITS):
        outputs = [_preprocessed(nvcc.program, root, unit, [*flags, *lines]) for root in (before, after)]
        if outputs[0] != outputs[1]:
            return f"{unit}: nvcc sees other code"
    return ""


def _preprocessed(nvcc: Path, root: Path, unit: Path, flags: Sequence[str]) -> list[str] | str:
    command = [str(nvcc), "-E", "-I.", *flags, str(unit)]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, errors="surrogateescape", check=False)
    if ended.returncode:
        return "does not preprocess"
    # Line markers are no tokens; #pragma lines are.
    text = re.sub(r"^# \d+ .*$", "", ended.stdout, flags=re.MULTILINE)
    return _TOKEN.findall(text)


def cmake_difference(before: Path, after: Path) -> str:
    """Whether `cmake -P CMakeLists.txt` prints something else; NOT_RUN without cmake."""
    cmake = shutil.which("cmake")
    if cmake is None:
        return NOT_RUN
    outputs = []
    for root in (before, after):
        ended = subprocess.run([cmake, "-P", "CMakeLists.txt"], cwd=root, capture_output=True, text=True, check=False)
        outputs.append(
            (ended.returncode, re.sub(r"CMakeLists\.txt:\d+", "CMakeLists.txt", ended.stdout + ended.stderr))
        )
    return "" if outputs[0] == outputs[1] else f"cmake prints {outputs[1]} instead of {outputs[0]}"


def bytecode_difference(before: bytes, after: bytes) -> str:
    """Whether the bytecode differs once the guard is the constant False, which Python's own compiler then removes."""
    old, new = (_without_guard(data) for data in (before, after))
    if not re.search(r"^import torch$", old, re.MULTILINE):
        new = re.sub(r"^import torch\n", "", new, flags=re.MULTILINE)  # the import that a port may add
    old, new = (_instructions(compile(text, "module.py", "exec", dont_inherit=True)) for text in (old, new))
    return "" if old == new else "Python compiles other code"


def _without_guard(data: bytes) -> str:
    """The module with `False` for the guard and for the flag, and without the line that sets the flag."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    text = data.decode(encoding)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    names = [token for token in tokens if token.type not in (tokenize.NL, tokenize.COMMENT)]
    edits: list[tuple[int, int]] = []
    guard = ["torch", ".", "version", ".", "hip", "is", "not", "None"]
    for index, token in enumerate(names):
        if [item.string for item in names[index : index + len(guard)]] == guard:
            last = names[index + len(guard) - 1]
            edits.append((starts[token.start[0] - 1] + token.start[1], starts[last.end[0] - 1] + last.end[1]))
        elif token.string == "is_rocm" and names[index - 1].string != "." and b"is_rocm = torch" in data:
            edits.append((starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]))
    for start, end in sorted(edits, reverse=True):
        text = text[:start] + "False" + text[end:]
    return text.replace("False = False\n", "\n")


def _instructions(code: types.CodeType) -> list[object]:
    listed: list[object] = [code.co_name, code.co_argcount, code.co_flags]
    for item in dis.get_instructions(code):
        if item.opname in ("NOP", "RESUME", "CACHE", "EXTENDED_ARG"):
            continue
        value = item.argval
        if isinstance(value, types.CodeType):
            listed.append((item.opname, _instructions(value)))
        else:
            is_jump = "JUMP" in item.opname or item.opname in ("FOR_ITER", "SETUP_FINALLY", "SEND")
            listed.append((item.opname, "" if is_jump else repr(value)))
    return listed


def behaviour_difference(before: Path, after: Path, *, real_torch: bool) -> str:
    """Whether observe.py of the case prints something else. `real_torch`: with TorchScript, else with a small stub."""
    if not (before / "observe.py").exists():
        return ""
    if real_torch and not REAL_TORCH.exists():
        return NOT_RUN
    python = str(REAL_TORCH) if real_torch else sys.executable
    outputs = []
    for root in (before, after):
        path = os.pathsep.join([".", *([] if real_torch else [str(STUBS)])])
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        ended = subprocess.run(
            [python, "observe.py"], cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        error = ended.stderr.strip().splitlines()[-1:] if ended.returncode else []
        outputs.append((ended.returncode, ended.stdout, error))
    return "" if outputs[0] == outputs[1] else f"the program prints {outputs[1]} instead of {outputs[0]}"
