"""Waits for events: a line, a file, the end of a process.

DEADLINE only ends a hang. No test passes or fails because the machine is slow.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TypeVar

import pytest
from processes import is_running, kill_family

# In seconds.
DEADLINE = float(os.environ.get("ROCM3D_TEST_DEADLINE") or 600)
PAUSE = 0.02
Value = TypeVar("Value")


def wait_until(condition: Callable[[], Value], event: str, deadline: float = DEADLINE) -> Value:
    """The first true value of the condition; `event` completes "waited for ..."."""
    end = time.monotonic() + deadline
    while not (value := condition()):
        if time.monotonic() > end:
            missed(event, deadline)
        time.sleep(PAUSE)
    return value


def missed(event: str, deadline: float = DEADLINE) -> None:
    """Fail the test: the deadline passed."""
    pytest.fail(f"waited {deadline:g} s for {event}")


def wait_for_file(path: Path, deadline: float = DEADLINE) -> str:
    """The text of a file once it exists and is not empty."""
    return wait_until(lambda: has_text(path), f"text in {path}", deadline)


def has_text(path: Path) -> str:
    """The text of a file; empty if it does not exist."""
    return path.read_text() if path.is_file() else ""


def wait_for_line(process: subprocess.Popen, text: str = "", deadline: float = DEADLINE) -> str:
    """The first line of the process's standard output that contains the text."""
    line = next_line(process, deadline)
    while line and text not in line:
        line = next_line(process, deadline)
    if not line:
        pytest.fail(f"{process.args} ended its output before a line with {text!r}")
    return line


def next_line(process: subprocess.Popen, deadline: float = DEADLINE) -> str:
    """The next line of its standard output; empty at the end."""
    lines: list[str] = []
    reader = threading.Thread(target=lambda: lines.append(process.stdout.readline()), daemon=True)
    reader.start()
    reader.join(deadline)
    if reader.is_alive():
        kill_family(process)
        missed(f"a line of {process.args}", deadline)
    return lines[0]


def wait_for_exit(process: subprocess.Popen, deadline: float = DEADLINE) -> int:
    """Its exit code. For a process with pipes that it may fill, use `output_of`."""
    try:
        return process.wait(timeout=deadline)
    except subprocess.TimeoutExpired:
        kill_family(process)
        missed(f"the end of {process.args}", deadline)


def output_of(process: subprocess.Popen, deadline: float = DEADLINE) -> tuple[str, str]:
    """Its standard output and standard error until it ends."""
    try:
        return process.communicate(timeout=deadline)
    except subprocess.TimeoutExpired:
        kill_family(process)
        missed(f"the end of the output of {process.args}", deadline)


def wait_until_gone(*pids: int, deadline: float = DEADLINE) -> None:
    """Wait until none of these processes is running."""
    event = f"the end of the processes {', '.join(map(str, pids))}"
    wait_until(lambda: not any(map(is_running, pids)), event, deadline)


def wait_for_thread(thread: threading.Thread, deadline: float = DEADLINE) -> None:
    """Wait until a thread has ended."""
    thread.join(deadline)
    if thread.is_alive():
        missed(f"the end of the thread {thread.name}", deadline)


def begin_limits_at(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start time limits of programs only when the file has text, so that a slow start does not use them up."""
    began, wait = time.monotonic(), subprocess.Popen.wait
    lost = 0.0

    def monotonic() -> float:
        nonlocal lost
        if not lost and has_text(path):
            lost = time.monotonic() - began
        return time.monotonic() - lost if lost else began

    def wait_after_start(self: subprocess.Popen, timeout: float | None = None) -> int:
        if timeout is not None:
            wait_until(lambda: self.poll() is not None or has_text(path), f"text in {path}")
        return wait(self, timeout=timeout)

    monkeypatch.setattr("rocm3d.workspace.process.time", SimpleNamespace(monotonic=monotonic))
    monkeypatch.setattr(subprocess.Popen, "wait", wait_after_start)
