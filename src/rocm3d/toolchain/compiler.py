"""Compilers: HIP, to a code object or a host object, and nvcc, to check that the CUDA side still compiles."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocm3d.model.toolchain import DetectedToolchain
from rocm3d.workspace.process import run
from rocm3d.workspace.programs import find_program
from rocm3d.workspace.sandbox import Sandbox, program_paths, run_in
from rocm3d.workspace.tree import read_regular

SECONDS = 600.0
_MAX_OUTPUT_BYTES = 4 * 1024 * 1024
_MAX_FILE_BYTES = 1024 * 1024 * 1024
_RELEASE = re.compile(r"release (\d+\.\d+)")
_ENTRY = re.compile(r"^[ \t]*(?:\.visible[ \t]+|\.weak[ \t]+)?\.entry[ \t]+(?P<name>[\w$.]+)", re.MULTILINE)
_BODY = re.compile(r"^\{\n(?P<body>.*?)^\}", re.MULTILINE | re.DOTALL)
_TOP = re.compile(r"^#\$ TOP=(?P<top>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class CompilerRun:
    """Result of one compile. `output` is None if it failed; `messages` is the text that the compiler printed.

    `stopped`: the limit at which it was stopped; empty if it ended by itself.
    """

    output: Path | None
    messages: str
    stopped: str = ""


def run_compiler(
    command: Sequence[str], output: Path, cwd: Path | None, seconds: float, sandbox: Sandbox | None = None
) -> CompilerRun:
    """Runs a compiler that writes only to the folder of `output`. nvcc prints errors of its host compiler to stdout.

    Flags and sources of a repository can make a compiler run any code, so `output` may be a link or a pipe afterwards.
    """
    finished = run_in(
        sandbox, command, cwd=cwd, writable=[output.parent], seconds=seconds, keep_bytes=_MAX_OUTPUT_BYTES
    )
    messages = (finished.stderr + finished.stdout).decode(errors="replace")
    stopped = finished.exceeded or (f"the limit of {seconds:.0f} s" if finished.timed_out else "")
    return CompilerRun(output if finished.code == 0 and output.is_file() else None, messages, stopped)


def read_output(path: Path) -> bytes | None:
    """A file that a compiler wrote; None if it is missing or no regular file."""
    try:
        return read_regular(path.parent, path.name, _MAX_FILE_BYTES)
    except OSError:
        return None


@dataclass(frozen=True)
class Compiler:
    """`command` compiles HIP. `assemble` and `link` are set if the driver cannot call a linker.

    `sandbox`: where it runs; None runs it with the user's rights.
    """

    about: DetectedToolchain
    command: tuple[str, ...]
    assemble: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    cwd: Path | None = None  # relative paths in messages start here
    sandbox: Sandbox | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files and folders that it reads, as far as its commands name them."""
        commands = [words for words in (self.command, self.assemble, self.link) if words]
        programs = (path for words in commands for path in program_paths(Path(words[0])))
        named = (Path(word.rpartition("=")[2]) for words in commands for word in words[1:])
        return (*programs, *(path for path in named if path.is_absolute() and path.exists()))

    def compile_device(
        self, source: Path, gfx: str, output: Path, flags: Sequence[str] = (), seconds: float = SECONDS
    ) -> CompilerRun:
        """Compiles to a code object for one target. Errors in inline assembly appear only in this last step."""
        base = [*self.command, "--cuda-device-only", f"--offload-arch={gfx}", *flags]
        if not self.link:
            return self._run([*base, "--no-gpu-bundle-output", "-c", str(source), "-o", str(output)], output, seconds)
        assembly, unlinked = output.with_suffix(".s"), output.with_suffix(".unlinked.o")
        steps: list[tuple[list[str], Path]] = [
            ([*base, "-S", str(source), "-o", str(assembly)], assembly),
            ([*self.assemble, f"-mcpu={gfx}", "-c", str(assembly), "-o", str(unlinked)], unlinked),
            ([*self.link, "-shared", str(unlinked), "-o", str(output)], output),
        ]
        messages = []
        for command, step_output in steps:
            compiler_run = self._run(command, step_output, seconds)
            messages.append(compiler_run.messages)
            if compiler_run.output is None:
                return CompilerRun(None, "".join(messages), compiler_run.stopped)
        return CompilerRun(output, "".join(messages))

    def compile_host(
        self, source: Path, output: Path, flags: Sequence[str] = (), seconds: float = SECONDS
    ) -> CompilerRun:
        """Compiles the host side of a HIP source."""
        return self._run(
            [*self.command, "--cuda-host-only", *flags, "-c", str(source), "-o", str(output)], output, seconds
        )

    def compile_cpp(
        self, source: Path, output: Path, flags: Sequence[str] = (), seconds: float = SECONDS
    ) -> CompilerRun:
        """Compiles a C++ source, which is not HIP but uses the same headers."""
        return self._run([*self.command, "-x", "c++", *flags, "-c", str(source), "-o", str(output)], output, seconds)

    def _run(self, command: Sequence[str], output: Path, seconds: float) -> CompilerRun:
        return run_compiler(command, output, self.cwd, seconds, self.sandbox)


@dataclass(frozen=True)
class Nvcc:
    """`architecture`: an sm_ name that this release supports, new enough for current code."""

    program: Path
    release: str
    architecture: str
    sandbox: Sandbox | None = None

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files and folders that it reads."""
        toolkit = self.include.parent
        return (*program_paths(self.program), *program_paths(toolkit / "bin" / "nvcc"), toolkit)

    def compile_object(
        self, source: Path, output: Path, flags: Sequence[str], cwd: Path, seconds: float = SECONDS
    ) -> CompilerRun:
        """Compiles host and device side of a unit. The PTX is stored next to the output, for `read_ptx`."""
        ptx_folder = output.with_suffix(".kept")
        ptx_folder.mkdir(parents=True, exist_ok=True)
        language = ["-x", "cu"] if source.suffix in (".cu", ".hip") else []
        device = [f"-arch={self.architecture}", "--keep", "--keep-dir", str(ptx_folder)] if language else []
        command = [str(self.program), *language, *device, *flags, "-c", str(source), "-o", str(output)]
        return run_compiler(command, output, cwd, seconds, self.sandbox)

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
        data = (read_output(path) for path in paths)
        return "".join(item.decode(errors="replace") for item in data if item is not None)


def find_nvcc(environment: Mapping[str, str] = os.environ, default_home: Path = Path("/usr/local/cuda")) -> Nvcc | None:
    """nvcc from PATH, CUDA_HOME, CUDA_PATH or /usr/local/cuda; None if there is none."""
    homes = [Path(environment[name]) for name in ("CUDA_HOME", "CUDA_PATH") if environment.get(name)]
    on_path = find_program("nvcc", environment)
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
