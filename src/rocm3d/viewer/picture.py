"""A picture without a window: a Chromium of our own draws the stage, and what it drew is written as a PNG."""

from __future__ import annotations

import io
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.failure import MachineLacks, UserError
from rocm3d.viewer.browser import chromium, console, headless
from rocm3d.viewer.server import serve, url
from rocm3d.viewer.stage import draw, light

if TYPE_CHECKING:
    from pathlib import Path

    from viser import ClientHandle, ViserServer

    from rocm3d.artifact.sight import Array
    from rocm3d.viewer.layout import Camera
    from rocm3d.viewer.shape import Shape
    from rocm3d.workspace.process import Companion

PAPER = (255, 255, 255)
SECONDS = 300.0
_PAUSE = 0.4
# Drawn at least so often the same before it counts as finished: what is loaded later changes it.
_SAME = 2


def write(shapes: list[Shape], out: Path, width: int, height: int, seconds: float = SECONDS) -> list[str]:
    """The picture as a PNG; what to say about it."""
    if not out.resolve().parent.is_dir():
        # Told before half a minute is spent on it.
        raise UserError(f"--screenshot {out}: {out.resolve().parent} is not a folder")
    png, notes, _ = take(shapes, width, height, seconds)
    try:
        out.write_bytes(png)
    except OSError as error:
        raise UserError(f"--screenshot {out}: {error.strerror}") from error
    return notes


def take(shapes: list[Shape], width: int, height: int, seconds: float = SECONDS) -> tuple[bytes, list[str], list[str]]:
    """The PNG, what to say about it, and what the page wrote to its console."""
    chromium()
    until = time.monotonic() + seconds
    with serve(port=0) as server:
        light(server, plain=True)
        camera, notes = draw(server, shapes, aspect=width / height, plain=True)
        with headless(url(server), width, height) as browser:
            client = _client(server, browser, until)
            drawn = _Sitting(client, browser, camera, width, height, until).settled(len(shapes))
            return png(drawn), notes, console(browser.printed)


def png(drawn: Array) -> bytes:
    """On paper: what is drawn (h, w, 4) has no background of its own."""
    from PIL import Image

    layer = Image.fromarray(drawn)
    sheet = Image.new("RGBA", layer.size, (*PAPER, 255))
    sheet.alpha_composite(layer.convert("RGBA"))
    out = io.BytesIO()
    sheet.convert("RGB").save(out, "PNG", optimize=True)
    return out.getvalue()


def _client(server: ViserServer, browser: Companion, until: float) -> ClientHandle:
    while time.monotonic() < until:
        clients = list(server.get_clients().values())
        if clients:
            return clients[0]
        _refuse_ended(browser)
        time.sleep(0.05)
    raise MachineLacks("Chromium did not show the page in time")


@dataclass(frozen=True)
class _Sitting:
    """One page that is drawn again and again, in a picture of this size, until all of it is there."""

    client: ClientHandle
    browser: Companion
    camera: Camera
    width: int
    height: int
    until: float

    def settled(self, wanted: int) -> Array:
        """The first frame that stays the same: splats are sorted and textures unpacked meanwhile."""
        last, same = b"", 0
        while time.monotonic() < self.until:
            drawn = self.frame()
            data = drawn.tobytes()
            same = same + 1 if data == last and all(_parts(drawn, wanted)) else 0
            if same >= _SAME - 1:
                return drawn
            last = data
            time.sleep(_PAUSE)
        raise MachineLacks("the picture was not finished in time", hint="draw fewer with --limit, or a smaller --size")

    def frame(self) -> Array:
        """One frame (h, w, 4). A page that is not of the size asked for is drawn in its own shape, and cut."""
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
                timeout=max(self.until - time.monotonic(), 0.1),
            )
        except (TimeoutError, RuntimeError) as error:
            _refuse_ended(self.browser)
            raise MachineLacks("Chromium did not draw in time", hint="draw fewer with --limit") from error
        x, y = (wide - self.width) // 2, (high - self.height) // 2
        cut: Array = drawn[y : y + self.height, x : x + self.width]
        return cut


def _parts(drawn: Array, wanted: int) -> list[bool]:
    """Whether there is ink in the picture, in each half of it where two stand side by side, below the labels."""
    height, width = drawn.shape[:2]
    body = drawn[height // 4 :, :, 3]
    halves = [body] if wanted == 1 else [body[:, : width // 2], body[:, width // 2 :]]
    return [bool((half > 0).any()) for half in halves]


def _refuse_ended(browser: Companion) -> None:
    if browser.ended:
        said = browser.printed.decode("utf-8", "replace").strip().splitlines()
        raise MachineLacks("Chromium ended before it drew anything", hint=said[-1][:200] if said else "")
