"""Browsers: the user's own for looking, and a Chromium without a window for pictures."""

from __future__ import annotations

import os
import re
import shutil
import sys
import webbrowser
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rocm3d.model.failure import MachineLacks
from rocm3d.workspace.process import beside
from rocm3d.workspace.scratch import kept_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rocm3d.workspace.process import Companion

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# Drawn by the processor, so that it works on every machine; nothing is fetched but our own page.
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
_KEPT = 4 * 1024 * 1024
# Chromium makes `org.chromium.Chromium.XXXXXX/SingletonSocket`; longer names than this no Unix socket has.
_SOCKET, _LONGEST_SOCKET = 48, 104


def chromium() -> str:
    """The program, or one line that there is none."""
    for name in PROGRAMS:
        place = shutil.which(name)
        if place:
            return place
    raise MachineLacks(
        "a picture is taken by Chromium, which is not installed here",
        hint="install chromium, or leave out --screenshot to look in your own browser",
    )


@contextmanager
def headless(url: str, width: int, height: int) -> Iterator[Companion]:
    """Chromium with one page of this size, for as long as the block takes. Neither it nor its profile outlives us."""
    program = chromium()
    # As root it does not start with a sandbox of its own.
    sandbox = () if os.name == "nt" or os.geteuid() else ("--no-sandbox",)
    size = (f"--window-size={width},{height}", "--kiosk", f"--screen-info={{{width}x{height}}}")
    with kept_folder() as folder:
        command = [program, *_ARGUMENTS, *sandbox, *size, f"--user-data-dir={folder / 'profile'}", url]
        with beside(command, env=_environment(folder), keep_bytes=_KEPT) as companion:
            yield companion


def _environment(folder: Path) -> dict[str, str]:
    """Its temporary files beside its profile; where the name of its socket would be too long, in the usual place."""
    short = len(str(folder)) + _SOCKET < _LONGEST_SOCKET
    return {**os.environ, "TMPDIR": str(folder) if short else "/tmp"}  # noqa: S108


def console(printed: bytes) -> list[str]:
    """What the page wrote to the console of the browser."""
    lines = printed.decode("utf-8", "replace").splitlines()
    return [found[2] for line in lines if (found := _CONSOLE.search(line))]


def open_window(url: str) -> bool:
    """Open the page where the user sits; without a screen nothing is opened, and false comes back."""
    screen = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or os.environ.get("WSL_DISTRO_NAME")
    if not (screen or sys.platform in ("darwin", "win32")):
        return False
    return webbrowser.open(url)
