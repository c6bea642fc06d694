"""rocm3d view: show splats, meshes and point clouds in the browser, as an image, or as a Blender scene."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from rocm3d.cli.session import CliSession
from rocm3d.model.errors import ExitCode, UserError

POSITION = 77
EXAMPLE = "Example: rocm3d view runs/cuda/scene.ply runs/rocm/scene.ply --screenshot both.png"
_SMALLEST, _LARGEST = 16, 4096

Axis = Literal["+x", "-x", "+y", "-y", "+z", "-z"]
Paths = Annotated[list[Path], typer.Argument(metavar="FILE|DIR", help="One, or two to compare side by side.")]
Up = Annotated[Axis | None, typer.Option("--up", help="The up axis. Default: the convention of the format.")]
Limit = Annotated[
    int, typer.Option("--limit", min=0, help="Maximum number of Gaussians or points to draw; 0: the default limit.")
]
Host = Annotated[str, typer.Option("--host", help="Address to listen on; others than the default are public.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: 8080 or the next free one.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in your browser.")]
Screenshot = Annotated[Path | None, typer.Option("--screenshot", help="Write a PNG with headless Chromium, and exit.")]
Size = Annotated[str, typer.Option("--size", help="Width and height of the image and of the Blender camera.")]
Blender = Annotated[Path | None, typer.Option("--blender", help="Write a scene to this .blend file, and exit.")]
Python = Annotated[
    Path | None, typer.Option("--python", help="Python with bpy, for --blender. Default: this one, else Blender.")
]


def command(
    session: CliSession,
    paths: Paths,
    up: Up = None,
    limit: Limit = 0,
    host: Host = "127.0.0.1",
    port: Port = 0,
    window: Open = True,
    screenshot: Screenshot = None,
    size: Size = "1280x720",
    blender: Blender = None,
    python: Python = None,
) -> ExitCode:
    """Show splats, meshes and point clouds: PLY, GLB, glTF, OBJ, and points in a .npz.

    Serves a page with orbit controls, counts and images to this machine only, until Ctrl-C. For a folder, such as a
    record of `rocm3d run`, the best matching file is shown, and others can be selected. With --screenshot or --blender
    no page is served. Exit code 2 if a file has nothing to show, 4 if Chromium, Blender or the extra `view` is missing.
    """
    from rocm3d.viewer.open import require_packages

    image_size = _parse_size(size)
    require_packages()
    from rocm3d.viewer.source import open_sources
    from rocm3d.viewer.view_settings import ViewSettings

    view = ViewSettings(
        open_sources(paths), up, limit, session.print_status, lambda text: session.write_output(text, None)
    )
    if screenshot is not None:
        view.picture(screenshot, image_size)
    if blender is not None:
        view.scene(blender, image_size, python)
    if screenshot is None and blender is None:
        view.page(host, port, window=window)
    return ExitCode.DONE


def _parse_size(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,4})x(\d{1,4})", text.strip())
    if match is None or not all(_SMALLEST <= int(side) <= _LARGEST for side in match.groups()):
        raise UserError(f"--size {text!r} is invalid", hint=f"for example 1280x720; {_SMALLEST} to {_LARGEST} each")
    return int(match[1]), int(match[2])
