"""Browsers: the user's own, and a headless Chromium that renders the scene for a screenshot, written as a PNG."""

from __future__ import annotations

import io
import os
import re
import sys
import time
import webbrowser
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy
from PIL import Image
from viser.transforms import SO3

from rocm3d.model.errors import MachineError, UserError
from rocm3d.viewer.stage import add_lights, draw, refuse_missing_folder, serve, server_url
from rocm3d.workspace.process import guarded_scratch_folder, run_in_background
from rocm3d.workspace.programs import find_program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from viser import ClientHandle, ViserServer

    from rocm3d.artifact.artifact_report import Array
    from rocm3d.viewer.layout import Camera
    from rocm3d.viewer.shape import Shape
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
BACKGROUND = (255, 255, 255)
TIMEOUT_SECONDS = 300.0
_PAUSE_SECONDS = 0.4
# Identical frames in a row before the picture counts as finished: content loads asynchronously.
_STABLE_FRAMES = 2


def write(shapes: list[Shape], out: Path, width: int, height: int, seconds: float = TIMEOUT_SECONDS) -> list[str]:
    """Write the PNG; returns notes about it."""
    # Checked first: rendering takes half a minute.
    refuse_missing_folder("--screenshot", out)
    png, notes, _ = take(shapes, width, height, seconds)
    try:
        out.write_bytes(png)
    except OSError as error:
        raise UserError(f"--screenshot {out}: {error.strerror}") from error
    return notes


def take(
    shapes: list[Shape], width: int, height: int, seconds: float = TIMEOUT_SECONDS
) -> tuple[bytes, list[str], list[str]]:
    """The PNG, notes about it, and the console messages of the page."""
    find_chromium()
    deadline = time.monotonic() + seconds
    with serve(port=0) as server:
        add_lights(server, plain=True)
        camera, notes = draw(server, shapes, aspect=width / height, plain=True)
        with headless(server_url(server), width, height) as browser:
            client = _wait_for_client(server, browser, deadline)
            drawn = _stable_frame(
                lambda: _frame(client, browser, camera, (width, height), deadline), len(shapes), deadline
            )
            return encode_png(drawn), notes, console_messages(browser.output)


def encode_png(drawn: Array) -> bytes:
    """A PNG of an RGBA frame (h, w, 4) on the background colour."""
    layer = Image.fromarray(drawn)
    sheet = Image.new("RGBA", layer.size, (*BACKGROUND, 255))
    sheet.alpha_composite(layer.convert("RGBA"))
    out = io.BytesIO()
    sheet.convert("RGB").save(out, "PNG", optimize=True)
    return out.getvalue()


def _wait_for_client(server: ViserServer, browser: BackgroundProcess, deadline: float) -> ClientHandle:
    while time.monotonic() < deadline:
        if clients := list(server.get_clients().values()):
            return clients[0]
        _raise_if_ended(browser)
        time.sleep(0.05)
    raise MachineError("Chromium did not load the page in time")


def _stable_frame(frame: Callable[[], Array], shape_count: int, deadline: float) -> Array:
    """The first frame that no longer changes: the page sorts splats and decodes textures in the background."""
    last, same = b"", 0
    while time.monotonic() < deadline:
        drawn = frame()
        data = drawn.tobytes()
        same = same + 1 if data == last and all(_drawn_parts(drawn, shape_count)) else 0
        if same >= _STABLE_FRAMES - 1:
            return drawn
        last = data
        time.sleep(_PAUSE_SECONDS)
    raise MachineError("the screenshot was not finished in time", hint="use a smaller --limit or --size")


def _frame(
    client: ClientHandle, browser: BackgroundProcess, camera: Camera, size: tuple[int, int], deadline: float
) -> Array:
    """One frame (h, w, 4). If the page has another aspect ratio, it is rendered larger and cropped."""
    width, height = size
    across, down = client.camera.image_width, client.camera.image_height
    larger = max(width / across, height / down)
    wide, high = max(width, round(across * larger)), max(height, round(down * larger))
    try:
        drawn = client.get_render(
            high,
            wide,
            wxyz=SO3.from_matrix(camera.rotation).wxyz,
            position=camera.position,
            fov=float(2 * numpy.arctan(numpy.tan(camera.field / 2) * high / height)),
            transport_format="png",
            timeout=max(deadline - time.monotonic(), 0.1),
        )
    except (TimeoutError, RuntimeError) as error:
        _raise_if_ended(browser)
        raise MachineError("Chromium did not render in time", hint="use a smaller --limit") from error
    x, y = (wide - width) // 2, (high - height) // 2
    cut: Array = drawn[y : y + height, x : x + width]
    return cut


def _drawn_parts(drawn: Array, shape_count: int) -> list[bool]:
    """Whether anything is drawn below the labels: in the whole picture, or in each half for two shapes."""
    height, width = drawn.shape[:2]
    body = drawn[height // 4 :, :, 3]
    halves = [body] if shape_count == 1 else [body[:, : width // 2], body[:, width // 2 :]]
    return [bool((half > 0).any()) for half in halves]


def _raise_if_ended(browser: BackgroundProcess) -> None:
    if browser.has_ended:
        messages = browser.output.decode("utf-8", "replace").strip().splitlines()
        raise MachineError("Chromium exited before it rendered anything", hint=messages[-1][:200] if messages else "")


def find_chromium() -> str:
    """The path of the first Chromium or Chrome on PATH."""
    for name in PROGRAMS:
        if program := find_program(name):
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
