"""Screenshots: a headless Chromium renders the scene, and the result is written as a PNG."""

from __future__ import annotations

import io
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.errors import MachineError, UserError
from rocm3d.viewer.browser import console_messages, find_chromium, headless
from rocm3d.viewer.server import serve, server_url
from rocm3d.viewer.stage import add_lights, draw

if TYPE_CHECKING:
    from pathlib import Path

    from viser import ClientHandle, ViserServer

    from rocm3d.artifact.artifact_report import Array
    from rocm3d.viewer.layout import Camera
    from rocm3d.viewer.shape import Shape
    from rocm3d.workspace.process import BackgroundProcess

BACKGROUND = (255, 255, 255)
TIMEOUT_SECONDS = 300.0
_PAUSE_SECONDS = 0.4
# Identical frames in a row before the picture counts as finished: content loads asynchronously.
_STABLE_FRAMES = 2


def write(shapes: list[Shape], out: Path, width: int, height: int, seconds: float = TIMEOUT_SECONDS) -> list[str]:
    """Write the PNG; returns notes about it."""
    if not out.resolve().parent.is_dir():
        # Checked first: rendering takes half a minute.
        raise UserError(f"--screenshot {out}: {out.resolve().parent} is not a folder")
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
            drawn = _RenderSession(client, browser, camera, width, height, deadline).stable_frame(len(shapes))
            return encode_png(drawn), notes, console_messages(browser.output)


def encode_png(drawn: Array) -> bytes:
    """A PNG of an RGBA frame (h, w, 4) on the background colour."""
    from PIL import Image

    layer = Image.fromarray(drawn)
    sheet = Image.new("RGBA", layer.size, (*BACKGROUND, 255))
    sheet.alpha_composite(layer.convert("RGBA"))
    out = io.BytesIO()
    sheet.convert("RGB").save(out, "PNG", optimize=True)
    return out.getvalue()


def _wait_for_client(server: ViserServer, browser: BackgroundProcess, deadline: float) -> ClientHandle:
    while time.monotonic() < deadline:
        clients = list(server.get_clients().values())
        if clients:
            return clients[0]
        _raise_if_ended(browser)
        time.sleep(0.05)
    raise MachineError("Chromium did not load the page in time")


@dataclass(frozen=True)
class _RenderSession:
    """One page that is rendered repeatedly at this size until it is complete."""

    client: ClientHandle
    browser: BackgroundProcess
    camera: Camera
    width: int
    height: int
    deadline: float

    def stable_frame(self, shape_count: int) -> Array:
        """The first frame that no longer changes: the page sorts splats and decodes textures in the background."""
        last, same = b"", 0
        while time.monotonic() < self.deadline:
            drawn = self.frame()
            data = drawn.tobytes()
            same = same + 1 if data == last and all(_drawn_parts(drawn, shape_count)) else 0
            if same >= _STABLE_FRAMES - 1:
                return drawn
            last = data
            time.sleep(_PAUSE_SECONDS)
        raise MachineError("the screenshot was not finished in time", hint="use a smaller --limit or --size")

    def frame(self) -> Array:
        """One frame (h, w, 4). If the page has another aspect ratio, it is rendered larger and cropped."""
        import numpy
        from viser.transforms import SO3

        across, down = self.client.camera.image_width, self.client.camera.image_height
        larger = max(self.width / across, self.height / down)
        wide, high = max(self.width, round(across * larger)), max(self.height, round(down * larger))
        field = 2 * numpy.arctan(numpy.tan(self.camera.field / 2) * high / self.height)
        try:
            drawn = self.client.get_render(
                high,
                wide,
                wxyz=SO3.from_matrix(self.camera.rotation).wxyz,
                position=self.camera.position,
                fov=float(field),
                transport_format="png",
                timeout=max(self.deadline - time.monotonic(), 0.1),
            )
        except (TimeoutError, RuntimeError) as error:
            _raise_if_ended(self.browser)
            raise MachineError("Chromium did not render in time", hint="use a smaller --limit") from error
        x, y = (wide - self.width) // 2, (high - self.height) // 2
        cut: Array = drawn[y : y + self.height, x : x + self.width]
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
