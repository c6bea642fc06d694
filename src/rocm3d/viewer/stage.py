"""viser's server, without output and its share button, and its scene: shapes under nodes that position them."""

from __future__ import annotations

import contextlib
import io
import logging
import socket
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy
import viser
from viser.transforms import SO3

from rocm3d.model.errors import UserError
from rocm3d.viewer.gaussians import covariances
from rocm3d.viewer.layout import MARGIN, PAGE_MARGIN, arrange, frame_camera
from rocm3d.viewer.mesh import without_metal
from rocm3d.viewer.shape import PointCloud, Splats, Surface

if TYPE_CHECKING:
    from collections.abc import Iterator

    from viser import ViserServer

    from rocm3d.artifact.artifact_report import Array
    from rocm3d.viewer.layout import Camera, Pose
    from rocm3d.viewer.shape import Shape

HOST, PORT = "127.0.0.1", 8080
# Share of the height that a label takes above its shape.
HEADROOM = 0.1
_LABEL_GAP, _MAX_LABEL_LENGTH = 0.2, 40
# Point size as a share of the spacing that the points would have on a square; minimum and maximum in world units.
_POINT_SPACING_SHARE, _MIN_POINT_SIZE, _MAX_POINT_SIZE = 1.5, 0.006, 0.15
ROOT = "/shown"


@contextmanager
def serve(host: str = HOST, port: int | None = None, label: str = "rocm3d view") -> Iterator[ViserServer]:
    """Serve until the end of the block. Port None: 8080 or the next free one; 0: any free one."""
    if port:
        _refuse_used_port(host, port)
    # Browsers open and drop connections; that is not an error.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=host, port=PORT if port is None else port, label=label, verbose=False)
    try:
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        yield server
    finally:
        with contextlib.redirect_stdout(io.StringIO()):
            server.stop()


def server_url(server: ViserServer) -> str:
    """An address that a browser on this machine can open."""
    host = server.get_host()
    return f"http://{'localhost' if host == '0.0.0.0' else host}:{server.get_port()}"  # noqa: S104  (compared, not bound)


def _refuse_used_port(host: str, port: int) -> None:
    """viser would silently use another port than the requested one."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(
            f"cannot listen on {host}:{port}: {reason}", hint="leave out --port to use a free one"
        ) from error


def add_lights(server: ViserServer, *, plain: bool) -> None:
    """Hemisphere and directional light, without shadows. `plain` leaves out the environment map.

    Software rendering needs half a minute for an environment map.
    """
    scene = server.scene
    scene.configure_default_lights(enabled=False, cast_shadow=False)
    scene.configure_environment_map(None if plain else "warehouse", environment_intensity=0.4)
    sky, lamp = (2.0, 2.0) if plain else (0.8, 1.5)
    scene.add_light_hemisphere("/sky", sky_color=(255, 255, 255), ground_color=(120, 124, 140), intensity=sky)
    scene.add_light_directional("/lamp", position=(-6.0, -10.0, 12.0), intensity=lamp, cast_shadow=False)


def draw(server: ViserServer, shapes: list[Shape], *, aspect: float, plain: bool = False) -> tuple[Camera, list[str]]:
    """Replace the content of the scene. Returns the camera that shows all of it, and notes about scales."""
    poses, notes = arrange(shapes)
    labels = short_names([shape.path for shape in shapes])
    headroom = HEADROOM if len(shapes) > 1 else 0.0
    camera = frame_camera(shapes, poses, aspect, headroom, MARGIN if plain else PAGE_MARGIN)
    highest = max(camera.height(pose.world(shape.sample())) for shape, pose in zip(shapes, poses, strict=True))
    with server.atomic():
        server.scene.remove_by_name(ROOT)
        server.scene.add_frame(ROOT, show_axes=False)
        for number, (shape, pose) in enumerate(zip(shapes, poses, strict=True)):
            node = f"{ROOT}/{number}"
            server.scene.add_frame(
                node, show_axes=False, wxyz=SO3.from_matrix(pose.rotation).wxyz, position=pose.offset
            )
            _add_shape(server, f"{node}/form", shape, pose, plain=plain)
            if len(shapes) > 1:
                position = camera.label_position(pose.offset, highest + _LABEL_GAP)
                _add_label(server, f"{ROOT}/label{number}", f"{labels[number]}: {shape.counts_text}", position)
        _set_camera(server, camera)
    return camera, notes


def refuse_missing_folder(option: str, out: Path) -> None:
    """Raise for an output whose folder does not exist, before anything is drawn."""
    if not out.resolve().parent.is_dir():
        raise UserError(f"{option} {out}: {out.resolve().parent} is not a folder")


def short_names(paths: list[Path]) -> list[str]:
    """File names, with as many parent folders as make them unique."""
    for depth in range(1, max(len(path.parts) for path in paths) + 1):
        short = [str(Path(*path.parts[-depth:])) for path in paths]
        if len(set(short)) == len(short):
            return short
    return [str(path) for path in paths]


def _add_shape(server: ViserServer, node: str, shape: Shape, pose: Pose, *, plain: bool) -> None:
    content, scene = shape.content, server.scene
    if isinstance(content, Splats):
        # Scaled here: the browser stores covariances as float16.
        moments = (covariances(content) * pose.scale**2).clip(-6e4, 6e4)
        scene.add_gaussian_splats(
            node,
            centers=_to_display_scale(content.centres, pose),
            covariances=moments.astype(numpy.float32),
            rgbs=content.colours,
            opacities=content.opacities[:, None].astype(numpy.float32),
        )
    elif isinstance(content, Surface):
        glb = without_metal(content.glb) if plain else content.glb
        scene.add_glb(node, glb, scale=pose.scale, position=-pose.centre * pose.scale, cast_shadow=False)
    elif isinstance(content, PointCloud):
        scene.add_point_cloud(
            node,
            points=_to_display_scale(content.points, pose),
            colors=content.colours,
            point_size=point_size(len(content.points)),
            point_shape="circle",
            precision="float32",
        )


def point_size(count: int) -> float:
    """In world units: the more points, the smaller."""
    return float(min(_MAX_POINT_SIZE, max(_MIN_POINT_SIZE, _POINT_SPACING_SHARE * 6.0 / max(count, 1) ** 0.5)))


def _to_display_scale(points: Array, pose: Pose) -> Array:
    moved: Array = ((points - pose.centre) * pose.scale).astype(numpy.float32)
    return moved


def _add_label(server: ViserServer, node: str, text: str, position: Array) -> None:
    short = text if len(text) <= _MAX_LABEL_LENGTH else f"{text[: _MAX_LABEL_LENGTH - 3]}..."
    server.scene.add_label(node, short, position=position, anchor="bottom-center")


def _set_camera(server: ViserServer, camera: Camera) -> None:
    """For clients that connect later, and for those that are connected."""
    connected: list[Any] = [client.camera for client in server.get_clients().values()]
    server.initial_camera.up = (0.0, 0.0, 1.0)
    for view in connected:
        view.up_direction = (0.0, 0.0, 1.0)
    for view in (server.initial_camera, *connected):
        view.position, view.look_at, view.fov = camera.position, camera.target, camera.field
