"""Lists the extensions that a build script declares: runs it on a copy, with stubs for torch and setuptools."""

from __future__ import annotations

import json
import os
import posixpath
import stat
import sys
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from rocm3d.model.errors import MachineError
from rocm3d.workspace.sandbox import Sandbox, run_in

SCRIPT = Path(__file__).parents[2] / "payload" / "read_build.py"
SECONDS = 120.0
_MAX_OUTPUT_BYTES = 4 * 1024 * 1024
# Of what a script leaves. Larger files are no sources, and are removed.
_MAX_FILE_BYTES, _MAX_FILES, _MAX_DEPTH = 64 * 1024 * 1024, 500_000, 64
_CUDA_HOME = "/usr/local/cuda"
DEVICE_SUFFIXES = frozenset({".cu", ".hip"})
HOST_SUFFIXES = frozenset({".cpp", ".cc", ".cxx", ".c++"})


@dataclass(frozen=True)
class DeclaredExtension:
    """A native extension as its build script declares it, with every path relative to the repository.

    `root`: the folder where the build starts. `uses_torch`: torch's BuildExtension adds its flags.
    `jit`: compiled at import time by `torch.utils.cpp_extension.load`, with other flags and another hipify folder.
    """

    name: str
    script: str
    line: int
    root: str
    sources: tuple[str, ...]
    include_dirs: tuple[str, ...] = ()
    macros: tuple[str, ...] = ()
    host_flags: tuple[str, ...] = ()
    device_flags: tuple[str, ...] = ()
    uses_torch: bool = True
    jit: bool = False

    @property
    def device_sources(self) -> tuple[str, ...]:
        """Sources with device code, by suffix."""
        return tuple(source for source in self.sources if PurePosixPath(source).suffix in DEVICE_SUFFIXES)

    def without(self, flags: set[str]) -> DeclaredExtension:
        """A copy without these flags and their values."""
        return replace(
            self, host_flags=_without(self.host_flags, flags), device_flags=_without(self.device_flags, flags)
        )


def _without(words: tuple[str, ...], flags: set[str]) -> tuple[str, ...]:
    remaining: list[str] = []
    skip = False
    for word, following in zip(words, (*words[1:], "-"), strict=False):
        if skip:
            skip = False
        elif word not in flags:
            remaining.append(word)
        else:
            skip = word.startswith("-X") or ("=" not in word and not following.startswith("-"))
    return tuple(remaining)


@dataclass(frozen=True)
class SimulatedMachine:
    """The machine that the stubs simulate. With `cuda` set, torch is a CUDA build, otherwise a ROCm build."""

    torch: str
    hip: str
    gfx: str
    wave: int
    cuda: str = ""
    pretends_cuda_home: bool = False


@dataclass(frozen=True)
class BuildScriptResult:
    """`error`: the exception that ended the script at `line`; not conclusive if the stubs may have caused it."""

    extensions: tuple[DeclaredExtension, ...]
    error: str = ""
    line: int = 0
    is_conclusive: bool = True

    @property
    def has_device_code(self) -> bool:
        """Whether any source holds device code."""
        return any(extension.device_sources for extension in self.extensions)


def run_build_script(  # noqa: PLR0913, PLR0917  (what a run depends on)
    tree: Path,
    script: str,
    machine: SimulatedMachine,
    interpreter: Path | None = None,
    sandbox: Sandbox | None = None,
    seconds: float = SECONDS,
) -> BuildScriptResult:
    """Runs the script. `tree` is a copy of the repository, to which it may write; `script` is a path in it."""
    request = {
        "script": str(tree / script),
        "torch": machine.torch,
        "hip": machine.hip,
        "cuda": machine.cuda,
        "gfx": machine.gfx,
        "wave": machine.wave,
        "cuda_home": _CUDA_HOME if machine.cuda or machine.pretends_cuda_home else "",
    }
    request_file = tree.with_name(f"{tree.name}.setup.json")
    request_file.write_text(json.dumps(request), encoding="utf-8")
    command = [str(interpreter or sys.executable), "-I", str(SCRIPT), str(request_file)]
    ended = run_in(
        sandbox,
        command,
        cwd=tree,
        readable=[request_file],
        writable=[tree],
        variables={"FORCE_CUDA": "1"} if machine.pretends_cuda_home else {},
        seconds=min(seconds, SECONDS),
        keep_bytes=_MAX_OUTPUT_BYTES,
    )
    request_file.unlink(missing_ok=True)
    refuse_unusual_files(tree, script)
    try:
        response: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        why = f"was stopped at the {min(seconds, SECONDS):.0f} s limit" if ended.timed_out else "printed no result"
        why = f"was stopped: {ended.exceeded}" if ended.exceeded else why
        return BuildScriptResult((), f"{script} {why}", 1, is_conclusive=False)
    root = posixpath.dirname(script)
    extensions = tuple(
        _to_extension(item, tree, script, root) for item in response["extensions"] if item["kind"] == "cuda"
    )
    error = str(response.get("error", ""))
    return BuildScriptResult(
        extensions, error, int(response.get("line", 0)), is_conclusive=not _is_caused_by_stubs(error)
    )


def _is_caused_by_stubs(error: str) -> bool:
    """Whether stubs or missing modules caused the error, and not a decision of the script."""
    return error.startswith(("AttributeError", "ImportError", "ModuleNotFoundError", "TypeError"))


def refuse_unusual_files(tree: Path, script: str) -> None:
    """Removes links and special files that a script left, and raises if the copy cannot be read any more.

    Everything that reads the copy afterwards may then follow paths in it.
    """
    count = 0
    pending = [(tree, 0)]
    while pending:
        folder, depth = pending.pop()
        folder.chmod(0o700)
        for entry in list(os.scandir(folder)):
            count += 1
            path, status = Path(entry.path), entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                pending.append((path, depth + 1))
            elif not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_FILE_BYTES:
                path.unlink()
            elif not status.st_mode & stat.S_IRUSR:
                path.chmod(0o600)
        if depth > _MAX_DEPTH or count > _MAX_FILES:
            raise MachineError(f"{script} wrote more files than rocm3d reads: over {_MAX_FILES}, or {_MAX_DEPTH} deep")


def _to_extension(declaration: dict[str, Any], tree: Path, script: str, root: str) -> DeclaredExtension:
    def flags(words: list[str]) -> tuple[str, ...]:
        return tuple(word.replace(f"{tree}/", "") for word in words)

    defined = [f"-D{name}" if value is None else f"-D{name}={value}" for name, value in declaration["macros"]]
    return DeclaredExtension(
        name=declaration["name"],
        script=script,
        line=declaration["line"],
        root=root,
        sources=tuple(dict.fromkeys(_relative_path(source, tree, root) for source in declaration["sources"])),
        include_dirs=tuple(_relative_path(folder, tree, root) for folder in declaration["include_dirs"]),
        macros=(*defined, *(f"-U{name}" for name in declaration["undefined"])),
        host_flags=flags(declaration["cxx"]),
        device_flags=flags(declaration["nvcc"]),
        jit=declaration["jit"],
    )


def _relative_path(path: str, tree: Path, root: str) -> str:
    """Relative to the repository; absolute if the path is outside."""
    normalized = Path(posixpath.normpath(str(tree / root / path)))
    return normalized.relative_to(tree).as_posix() if normalized.is_relative_to(tree) else normalized.as_posix()
