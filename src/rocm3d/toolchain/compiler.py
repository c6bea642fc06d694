"""A HIP compiler: compiles a source to a code object or a host object."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm3d.model.toolchain import DetectedToolchain

SECONDS = 600.0
_MAX_OUTPUT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class CompilerRun:
    """Result of one compile. `output` is None if it failed; `messages` is the text that the compiler printed."""

    output: Path | None
    messages: str
    timed_out: bool = False


@dataclass(frozen=True)
class Compiler:
    """`command` compiles HIP. `assemble` and `link` are set if the driver cannot call a linker."""

    about: DetectedToolchain
    command: tuple[str, ...]
    assemble: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    cwd: Path | None = None  # relative paths in messages start here

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
                return CompilerRun(None, "".join(messages), compiler_run.timed_out)
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
        finished = run(
            command, cwd=self.cwd, env=self.environment or None, seconds=seconds, keep_bytes=_MAX_OUTPUT_BYTES
        )
        messages = finished.stderr.decode(errors="replace")
        return CompilerRun(output if finished.code == 0 and output.is_file() else None, messages, finished.timed_out)
