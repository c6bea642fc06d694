"""Finds and runs nvcc, to check that the CUDA side of a port still compiles."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.toolchain.compiler import SECONDS, CompilerRun
from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_RELEASE = re.compile(r"release (\d+\.\d+)")
_ENTRY = re.compile(r"^[ \t]*(?:\.visible[ \t]+|\.weak[ \t]+)?\.entry[ \t]+(?P<name>[\w$.]+)", re.MULTILINE)
_BODY = re.compile(r"^\{\n(?P<body>.*?)^\}", re.MULTILINE | re.DOTALL)
_TOP = re.compile(r"^#\$ TOP=(?P<top>.+)$", re.MULTILINE)
_MAX_OUTPUT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class Nvcc:
    """`architecture`: an sm_ name that this release supports, new enough for current code."""

    program: Path
    release: str
    architecture: str

    def compile_object(
        self, source: Path, output: Path, flags: Sequence[str], cwd: Path, seconds: float = SECONDS
    ) -> CompilerRun:
        """Compiles host and device side of a unit. The PTX is stored next to the output, for `read_ptx`."""
        ptx_folder = output.with_suffix(".kept")
        ptx_folder.mkdir(parents=True, exist_ok=True)
        language = ["-x", "cu"] if source.suffix in (".cu", ".hip") else []
        device = [f"-arch={self.architecture}", "--keep", "--keep-dir", str(ptx_folder)] if language else []
        command = [str(self.program), *language, *device, *flags, "-c", str(source), "-o", str(output)]
        finished = run(command, cwd=cwd, seconds=seconds, keep_bytes=_MAX_OUTPUT_BYTES)
        messages = (finished.stderr + finished.stdout).decode(errors="replace")
        return CompilerRun(output if finished.code == 0 and output.is_file() else None, messages, finished.timed_out)

    @property
    def include(self) -> Path:
        """Include folder of the CUDA runtime. From nvcc's dry run, as the program may be a wrapper script."""
        dry_run = run([str(self.program), "--dryrun", "-x", "cu", "-E", os.devnull]).stderr.decode(errors="replace")
        match = _TOP.search(dry_run)
        return Path(match["top"]).resolve() / "include" if match else self.program.resolve().parents[1] / "include"

    @staticmethod
    def read_ptx(output: Path) -> str:
        """The PTX that `compile_object` stored for this output."""
        paths = sorted(output.with_suffix(".kept").glob("*.ptx"))
        return "".join(path.read_text(encoding="utf-8", errors="replace") for path in paths)


def find_nvcc(environment: Mapping[str, str] = os.environ, default_home: Path = Path("/usr/local/cuda")) -> Nvcc | None:
    """nvcc from PATH, CUDA_HOME, CUDA_PATH or /usr/local/cuda; None if there is none."""
    homes = [Path(environment[name]) for name in ("CUDA_HOME", "CUDA_PATH") if environment.get(name)]
    on_path = shutil.which("nvcc", path=environment.get("PATH"))
    for program in (*([Path(on_path)] if on_path else []), *(home / "bin" / "nvcc" for home in (*homes, default_home))):
        if program.is_file():
            release = _RELEASE.search(run([str(program), "--version"]).stdout.decode(errors="replace"))
            architectures = run([str(program), "--list-gpu-code"]).stdout.decode(errors="replace").split()
            if release is not None and architectures:
                # The middle of the list: neither deprecated nor the newest.
                return Nvcc(program, release.group(1), architectures[len(architectures) // 2])
    return None


def ptx_kernels(ptx: str) -> Iterator[tuple[str, bool]]:
    """Kernels of a PTX text: the symbol, and whether the body is empty."""
    for match in _ENTRY.finditer(ptx):
        body = _BODY.search(ptx, match.end())
        lines = [] if body is None else [line.strip() for line in body["body"].splitlines()]
        instructions = [word for word in lines if word and not word.startswith((".", "//", "$", "{", "}"))]
        yield match["name"], all(word in ("ret;", "exit;") for word in instructions)
