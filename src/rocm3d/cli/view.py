"""rocm3d view: a splat, a mesh or a point cloud in the browser, as a picture, or as a Blender scene."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from rocm3d.cli.session import Session
from rocm3d.model.failure import Exit, UserError

POSITION = 77
EXAMPLE = "Example: rocm3d view runs/cuda/scene.ply runs/rocm/scene.ply --screenshot both.png"
_SMALLEST, _LARGEST = 16, 4096

Axis = Literal["+x", "-x", "+y", "-y", "+z", "-z"]
Paths = Annotated[list[Path], typer.Argument(metavar="FILE|DIR", help="One, or two that stand side by side.")]
Up = Annotated[Axis | None, typer.Option("--up", help="The axis that is up; left out: by custom of the format.")]
Limit = Annotated[
    int, typer.Option("--limit", min=0, help="Draw at most so many Gaussians or points; 0: as many as are usual.")
]
Host = Annotated[str, typer.Option("--host", help="Where to listen; any address but this lets others look, too.")]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0: 8080 or the next free one.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in your browser.")]
Screenshot = Annotated[
    Path | None, typer.Option("--screenshot", help="Write a PNG, drawn by a Chromium without a window, and end.")
]
Size = Annotated[str, typer.Option("--size", help="Columns and rows of the picture and of the Blender camera.")]
Blender = Annotated[Path | None, typer.Option("--blender", help="Write a scene to this .blend file, and end.")]
Python = Annotated[
    Path | None, typer.Option("--python", help="A Python with bpy, for --blender; left out: ours, else Blender.")
]


def command(
    session: Session,
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
) -> Exit:
    """Look at splats, meshes and point clouds: PLY, GLB, glTF, OBJ, and points in a .npz.

    A page with orbit, counts and pictures is served to this machine alone, until Ctrl-C. Of a folder, such as what
    `rocm3d run` keeps, the most fitting file is shown, and others can be chosen. With --screenshot or --blender no page
    is served. Exit code 2 if a file holds nothing to see, 4 if Chromium, Blender or the extra `view` is missing.
    """
    from rocm3d.viewer.open import need_packages

    shape = _size(size)
    need_packages()
    from rocm3d.viewer.look import Look
    from rocm3d.viewer.source import sources

    look = Look(sources(paths), up, limit, session.say, lambda text: session.put(text, None))
    if screenshot is not None:
        look.picture(screenshot, shape)
    if blender is not None:
        look.scene(blender, shape, python)
    if screenshot is None and blender is None:
        look.page(host, port, window=window)
    return Exit.DONE


def _size(text: str) -> tuple[int, int]:
    form = re.fullmatch(r"(\d{1,4})x(\d{1,4})", text.strip())
    if form is None or not all(_SMALLEST <= int(side) <= _LARGEST for side in form.groups()):
        raise UserError(f"--size {text!r} is not a size", hint=f"for example 1280x720; {_SMALLEST} to {_LARGEST} each")
    return int(form[1]), int(form[2])
