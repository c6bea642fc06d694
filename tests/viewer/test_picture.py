"""Screenshots by a real Chromium with software rendering."""

from __future__ import annotations

import io
import os
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
from browser import drives_browser
from PIL import Image
from processes import running_as
from waiting import DEADLINE, has_text, wait_until, wait_until_gone

from rocm3d.model.errors import MachineError, UserError
from rocm3d.viewer import picture

# What viser's page says of the browser and of itself; of splats it asks for a sphere around them that nobody uses.
HARMLESS = (
    *("Detected chrome version", "WebGL support: true", "Connecting to: ws://127.0.0.1", "Connected! ws://127.0.0.1"),
    *(
        "Tried to send ViewerCameraMessage but websocket is not connected",
        "THREE.Clock: This module has been deprecated",
        "THREE.BufferGeometry.computeBoundingSphere()",
    ),
)
# A software renderer on a busy machine says that reading the picture waited for it.
READS_PIXELS = "GPU stall due to ReadPixels"
WIDTH, HEIGHT = 320, 200


class SharedChromium:
    """Replaces the Chromium of a screenshot by a page of the shared one."""

    has_ended = False

    def __init__(self, page) -> None:
        self.page = page

    @property
    def output(self) -> bytes:
        lines = [f'[1:1:INFO:CONSOLE:1] "{text}", source: page (1)' for _, text in self.page.console()]
        return "\n".join(lines).encode()


def take(*paths: Path, opened) -> tuple[numpy.ndarray, list[str]]:
    """The screenshot (h, w, 3), and unusual console messages of the page."""
    png, _, console = picture.take([opened(path) for path in paths], WIDTH, HEIGHT, DEADLINE)
    messages = [line for line in console if not (line.startswith(HARMLESS) or READS_PIXELS in line)]
    return numpy.asarray(Image.open(io.BytesIO(png))).astype(int), messages


@pytest.fixture
def screenshot(opened, browser, monkeypatch):
    """Takes screenshots with the shared Chromium."""

    @contextmanager
    def headless(address: str, width: int, height: int):
        with browser.open_page(width, height) as page:
            page.show(address)
            yield SharedChromium(page)

    monkeypatch.setattr(picture, "headless", headless)
    return partial(take, opened=opened)


def ink(image: numpy.ndarray) -> numpy.ndarray:
    """Mask (h, w) of pixels that differ from the background."""
    return numpy.abs(image - numpy.array(picture.BACKGROUND)).max(axis=2) > 40


def test_without_chromium_no_server_is_started(opened, monkeypatch, tmp_path, write_splat):
    shapes = [opened(write_splat())]
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(picture, "serve", lambda **_: pytest.fail("started"))

    with pytest.raises(MachineError, match="Chromium, which is not installed"):
        picture.take(shapes, WIDTH, HEIGHT)


def test_a_chromium_that_ends_at_once_is_reported_with_its_message(opened, monkeypatch, tmp_path, write_splat):
    program = tmp_path / "bin" / "chromium"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'no usable sandbox' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    with pytest.raises(MachineError, match="exited before it rendered anything") as error:
        picture.take([opened(write_splat())], WIDTH, HEIGHT)

    assert error.value.hint == "no usable sandbox"


@pytest.mark.timeout(DEADLINE)
def test_a_chromium_that_never_shows_the_page_ends_in_time(opened, monkeypatch, tmp_path, write_splat):
    program = tmp_path / "bin" / "chromium"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 3600\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    began = []

    def clock() -> float:
        """The clock advances once the program has started."""
        if not began and has_text(tmp_path / "pid"):
            began.append(time.monotonic())
        return time.monotonic() - began[0] if began else 0.0

    monkeypatch.setattr(picture, "time", SimpleNamespace(monotonic=clock, sleep=time.sleep))

    with pytest.raises(MachineError, match="did not load the page in time"):
        picture.take([opened(write_splat())], WIDTH, HEIGHT, seconds=0.2)

    wait_until_gone(int((tmp_path / "pid").read_text()))


def test_a_folder_that_does_not_exist_is_named_before_anything_is_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr(picture, "take", lambda *_: pytest.fail("drawn"))

    with pytest.raises(UserError, match=r"--screenshot .*/no/a.png: .*/no is not a folder"):
        picture.write([], tmp_path / "no" / "a.png", WIDTH, HEIGHT)


def test_a_place_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(picture, "take", lambda *_: (b"", [], []))

    with pytest.raises(UserError, match=r"--screenshot .*: Is a directory"):
        picture.write([], tmp_path, WIDTH, HEIGHT)


def test_what_is_drawn_lies_on_paper():
    drawn = numpy.zeros((2, 2, 4), dtype=numpy.uint8)
    drawn[0, 0] = [200, 0, 0, 255]

    image = numpy.asarray(Image.open(io.BytesIO(picture.encode_png(drawn))))

    assert image[0, 0].tolist() == [200, 0, 0]
    assert image[1, 1].tolist() == list(picture.BACKGROUND)


@drives_browser
def test_a_splat_is_drawn_in_its_colour_and_its_shape(screenshot, write_splat):
    image, messages = screenshot(write_splat())

    visible = ink(image)
    assert messages == []
    assert 0.2 < visible.mean() < 0.55
    assert not visible[0].any()
    assert not visible[:, 0].any()
    red = image[HEIGHT // 2, WIDTH // 2]
    assert red[0] > 150
    assert red[1:].max() < 100
    # A ball is round: as wide as it is high.
    rows, columns = numpy.flatnonzero(visible.any(axis=1)), numpy.flatnonzero(visible.any(axis=0))
    assert (columns[-1] - columns[0]) / (rows[-1] - rows[0]) == pytest.approx(1, abs=0.05)


@drives_browser
def test_a_mesh_is_drawn_with_shading(screenshot, write_box):
    image, messages = screenshot(write_box())

    visible = ink(image)
    assert messages == []
    assert 0.1 < visible.mean() < 0.6
    blue = image[visible]
    assert (blue[:, 2] > blue[:, 0] + 40).mean() > 0.9
    # Three sides of a box, in three shades.
    assert len({tuple(colour // 8) for colour in blue}) >= 3


@drives_browser
def test_two_side_by_side_have_background_between(opened, write_splat, write_cloud, tmp_path, monkeypatch):
    """With a separate Chromium that leaves no files or processes."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    image, messages = take(write_splat(), write_cloud(), opened=opened)

    assert messages == []
    wait_until(lambda: not running_as(f"--user-data-dir={tmp_path}"), "the end of Chromium")
    assert list(tmp_path.glob("rocm3d-*")) == []
    # Below the labels.
    columns = ink(image[HEIGHT // 3 :]).any(axis=0)
    edges = numpy.flatnonzero(numpy.diff(columns.astype(int)) == 1)
    red, green = image[HEIGHT // 3 :, : WIDTH // 2], image[HEIGHT // 3 :, WIDTH // 2 :]
    assert ((red[..., 0] > 150) & (red[..., 1] < 100)).sum() > 500
    assert ((green[..., 1] > 100) & (green[..., 0] < 100)).sum() > 500
    assert len(edges) >= 2
    assert (~columns[edges[0] + 1 : WIDTH]).any()
