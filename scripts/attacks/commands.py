"""Commands of rocm3d, each in a process forked from this one, which has imported everything.

A command has its own environment, folder, output files and process group, as if a shell had started it; what is saved
is start-up, most of the time of a small command. Linux only.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import select
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SUPPORT = Path(__file__).resolve().parents[2] / "tests" / "support"
PATIENCE_SECONDS = 180.0
MEMORY_BYTES = 12 << 30
TRACEBACK = "Traceback (most recent call last)"
BUG = 3
KILLED = -signal.SIGKILL

_loaded: list[bool] = []


def support(name: str) -> Any:
    """A module that tests share."""
    if str(SUPPORT) not in sys.path:
        sys.path.append(str(SUPPORT))
    return importlib.import_module(name)


def load_program() -> None:
    """Import everything and read the shipped knowledge, once, before the first fork."""
    if not _loaded:
        server = support("command_server")
        server.load_knowledge_once()
        server.import_everything()
        _loaded.append(True)


@dataclass(frozen=True)
class Ended:
    """How a command ended; `code` is negative after a signal, None after a time-out."""

    arguments: tuple[str, ...]
    code: int | None
    out: str
    err: str
    seconds: float
    changes: int | None = None  # to the watched folders; None if it was killed

    @property
    def is_killed(self) -> bool:
        return self.code == KILLED

    def problem(self, codes: tuple[int, ...] = (0, 1, 2)) -> str:
        """What is wrong with the end of this command, or an empty text: its exit code and the form of its messages."""
        name = " ".join(self.arguments[:1])
        if self.code is None:
            return f"{name}: still running after {self.seconds:.0f} s"
        if TRACEBACK in self.err or TRACEBACK in self.out or self.code == BUG:
            return f"{name}: exit {self.code}, {_last_line(self.err)}"
        if self.code not in codes:
            return f"{name}: exit {self.code}: {_last_line(self.err)}"
        if self.code == 2:
            return self._refusal_problem()
        return ""

    def _refusal_problem(self) -> str:
        lines = [line for line in self.err.splitlines() if line.startswith("rocm3d: ")]
        if len(lines) != 1:
            return f"{' '.join(self.arguments[:1])}: exit 2 with {len(lines)} messages: {self.err[-300:]!r}"
        return ""


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no message"])[-1][:300]


class Running:
    """A started command."""

    def __init__(self, pid: int, arguments: tuple[str, ...], folder: Path) -> None:
        self.pid, self.arguments, self.folder = pid, arguments, folder
        self.started = time.monotonic()
        self.descriptor = os.pidfd_open(pid)

    def wait(self, seconds: float = PATIENCE_SECONDS) -> Ended:
        """Wait for its end; after the time it is killed and its code is None."""
        ready, _, _ = select.select([self.descriptor], [], [], max(0.0, seconds))
        if not ready:
            self.kill()
        _, status = os.waitpid(self.pid, 0)
        os.close(self.descriptor)
        self._kill_group()
        code = os.waitstatus_to_exitcode(status) if ready else None
        count = self.folder / "changes"
        return Ended(
            self.arguments, code, _text(self.folder / "out"), _text(self.folder / "err"),
            time.monotonic() - self.started, int(count.read_text()) if count.is_file() else None,
        )  # fmt: skip

    def kill_after(self, seconds: float) -> Ended:
        """Kill it by SIGKILL, with its children, unless it ends before."""
        select.select([self.descriptor], [], [], max(0.0, seconds))
        self.kill()
        return self.wait()

    def kill(self) -> None:
        self._kill_group()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


@dataclass
class Commands:
    """Starts commands with one environment. Output goes to numbered folders below `folder`."""

    folder: Path
    environment: dict[str, str]
    cwd: Path | None = None
    number: int = 0

    def start(
        self, *arguments: object, kill_before: int | None = None, watched: tuple[Path, ...] = (), answers: str = ""
    ) -> Running:
        """Start `rocm3d ARGUMENTS`; it kills itself before change `kill_before` of the watched folders.

        With `answers` its input is a terminal on which somebody has typed them. Trees of attacks are edited in place,
        also without git.
        """
        self.number += 1
        folder = self.folder / str(self.number)
        folder.mkdir(parents=True)
        words = tuple(map(str, arguments))
        if words[:1] in (("apply",), ("port",)) and "--into" not in words:
            words = (words[0], "--yes", *words[1:])
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            self._become(words, folder, kill_before, watched, answers)
        with contextlib.suppress(OSError):  # whichever of the two comes first
            os.setpgid(pid, pid)
        return Running(pid, words, folder)

    def run(self, *arguments: object, seconds: float = PATIENCE_SECONDS, **options: Any) -> Ended:
        """Run a command to its end."""
        return self.start(*arguments, **options).wait(seconds)

    def _become(
        self, words: tuple[str, ...], folder: Path, kill_before: int | None, watched: tuple[Path, ...], answers: str
    ) -> None:
        code = 70
        try:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            request = {
                "env": self.environment, "cwd": str(self.cwd or self.folder), "arguments": list(words),
                "out": str(folder / "out"), "err": str(folder / "err"),
            }  # fmt: skip
            support("command_server").become(request)
            if answers:
                _type(answers)
            count = support("kill_points").kill_before_change(kill_before, *map(str, watched)) if watched else None
            code = _run_main()
            if count is not None:
                (folder / "changes").write_text(str(count()))
        except BaseException as error:  # noqa: BLE001  (a forked process must not return into its parent's code)
            os.write(2, f"{TRACEBACK}: {error!r}\n".encode(errors="replace"))
        finally:
            os._exit(code)


def _type(answers: str) -> None:
    """Make standard input a terminal with these lines."""
    keyboard, terminal = os.openpty()
    os.write(keyboard, answers.encode())
    os.dup2(terminal, 0)
    os.close(terminal)
    sys.stdin = os.fdopen(0, closefd=False)  # in a worker process it is another file


def _run_main() -> int:
    """The exit code of the command that sys.argv names."""
    main = importlib.import_module("rocm3d.cli.main").main
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    return code


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "backslashreplace") if path.is_file() else ""
