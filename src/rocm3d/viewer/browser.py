"""Browsers: opens the user's own, and runs a headless Chromium for screenshots."""

from __future__ import annotations

import os
import re
import shutil
import sys
import webbrowser
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rocm3d.model.errors import MachineError
from rocm3d.workspace.process import guarded_scratch_folder, run_in_background

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rocm3d.workspace.process import BackgroundProcess

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Software rendering, so that it works on every machine. Background network access is off.
_ARGUMENTS = (
    "--headless=new",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--enable-logging=stderr",
)
_CONSOLE = re.compile(r':(INFO|WARNING|ERROR):CONSOLE[:(]\d+\)?\] "(.*)", source:', re.DOTALL)
_MAX_OUTPUT_BYTES = 4 * 1024 * 1024
# Chromium creates `org.chromium.Chromium.XXXXXX/SingletonSocket` in TMPDIR; Unix limits the length of socket paths.
_SOCKET_NAME_LENGTH, _MAX_SOCKET_PATH = 48, 104


def find_chromium() -> str:
    """The path of the first Chromium or Chrome on PATH."""
    for name in PROGRAMS:
        program = shutil.which(name)
        if program:
            return program
    raise MachineError(
        "--screenshot needs Chromium, which is not installed",
        hint="install chromium, or leave out --screenshot to open your own browser",
    )


@contextmanager
def headless(url: str, width: int, height: int) -> Iterator[BackgroundProcess]:
    """Chromium with one page of this size in pixels. Process and profile are removed at the end of the block."""
    program = find_chromium()
    # Chromium's sandbox does not start as root.
    sandbox = () if os.name == "nt" or os.geteuid() else ("--no-sandbox",)
    size = (f"--window-size={width},{height}", "--kiosk", f"--screen-info={{{width}x{height}}}")
    with guarded_scratch_folder() as folder:
        command = [program, *_ARGUMENTS, *sandbox, *size, f"--user-data-dir={folder / 'profile'}", url]
        with run_in_background(command, env=_environment(folder), keep_bytes=_MAX_OUTPUT_BYTES) as companion:
            yield companion


def _environment(folder: Path) -> dict[str, str]:
    """TMPDIR next to the profile, or /tmp if the path of Chromium's socket would be too long."""
    short = len(str(folder)) + _SOCKET_NAME_LENGTH < _MAX_SOCKET_PATH
    return {**os.environ, "TMPDIR": str(folder) if short else "/tmp"}  # noqa: S108


def console_messages(output: bytes) -> list[str]:
    """Messages that the page wrote to the browser's console."""
    lines = output.decode("utf-8", "replace").splitlines()
    return [match[2] for line in lines if (match := _CONSOLE.search(line))]


def open_window(url: str) -> bool:
    """Open the page in the user's browser. Returns False without a display."""
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("WSL_DISTRO_NAME")
    if not (screen or sys.platform in ("darwin", "win32")):
        return False
    return webbrowser.open(url)
