"""Artifacts to look at, and a real Chromium that shows pages and tells what is on them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import numpy
import plyfile
import pytest
import trimesh

from rocm3d.artifact.look import look
from rocm3d.viewer.browser import PROGRAMS
from rocm3d.viewer.open import shape
from rocm3d.viewer.shape import Shape

CHROMIUM = next(filter(None, map(shutil.which, PROGRAMS)), None)
PROPERTIES = (
    *("x", "y", "z", "f_dc_0", "f_dc_1", "f_dc_2", "opacity"),
    *("scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"),
)


def ball(count: int = 400, **values: float) -> numpy.ndarray:
    """Red Gaussians on a sphere of radius one, as trainers write them; keywords put one value into a property."""
    rows = numpy.zeros(count, dtype=[(name, "f4") for name in PROPERTIES])
    places = numpy.random.default_rng(0).normal(size=(count, 3))
    places /= numpy.linalg.norm(places, axis=1, keepdims=True)
    for name, column in zip("xyz", places.T, strict=True):
        rows[name] = column
    rows["f_dc_0"], rows["f_dc_1"], rows["f_dc_2"] = 1.6, -1.6, -1.6
    rows["opacity"], rows["rot_0"] = 4.0, 1.0
    for axis in range(3):
        rows[f"scale_{axis}"] = numpy.log(0.12)
    for name, value in values.items():
        rows[name] = value
    return rows


@pytest.fixture(name="ball")
def _ball():
    return ball


@pytest.fixture
def write_splat(tmp_path):
    """A PLY of Gaussians."""

    def write(name: str = "ball.ply", rows: numpy.ndarray | None = None) -> Path:
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        element = plyfile.PlyElement.describe(ball() if rows is None else rows, "vertex")
        plyfile.PlyData([element]).write(str(place))
        return place

    return write


@pytest.fixture
def write_box(tmp_path):
    """A box of one colour, of whichever format its name says."""

    def write(name: str = "box.glb", colour: tuple[int, int, int, int] | None = (30, 60, 200, 255)) -> Path:
        box = trimesh.creation.box()
        if colour is not None:
            box.visual.vertex_colors = numpy.tile(numpy.array(colour, dtype=numpy.uint8), (len(box.vertices), 1))
        box.export(tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture
def write_cloud(tmp_path):
    """A green point cloud as a PLY."""

    def write(name: str = "cloud.ply", count: int = 2000) -> Path:
        points = numpy.random.default_rng(1).normal(size=(count, 3))
        colours = numpy.tile(numpy.array([20, 160, 40, 255], dtype=numpy.uint8), (count, 1))
        trimesh.PointCloud(points, colors=colours).export(tmp_path / name)
        return tmp_path / name

    return write


def opened(path: Path, **options) -> Shape:
    """A file to be drawn, looked at in this process: to start one for each takes most of the time of a test."""
    return shape(path, artifact=look(path), **options)


@pytest.fixture(name="opened")
def _opened():
    return opened


class Tab:
    """One page of a headless Chromium, spoken to by its debugging protocol."""

    def __init__(self, socket) -> None:
        self.socket, self.number, self.console = socket, 0, []

    def call(self, method: str, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv(timeout=60))
            if answer.get("method") == "Runtime.exceptionThrown":
                self.console.append(("exception", str(answer["params"]["exceptionDetails"])))
            if answer.get("method") == "Runtime.consoleAPICalled":
                said = " ".join(str(part.get("value", "")) for part in answer["params"]["args"])
                self.console.append((answer["params"]["type"], said))
            if answer.get("id") == self.number:
                return answer["result"]

    def text(self) -> str:
        return self.call("Runtime.evaluate", expression="document.body?.innerText ?? ''")["result"]["value"]

    def wait_for(self, words: str, seconds: float = 60) -> str:
        """The text of the page once these words are on it."""
        until = time.monotonic() + seconds
        while words not in (seen := self.text()):
            assert time.monotonic() < until, f"{words!r} is not on the page: {seen}"
            time.sleep(0.3)
        return seen


@contextlib.contextmanager
def tab(url: str, profile: Path, width: int = 800, height: int = 500):
    """A tab that shows the page; the browser is gone afterwards."""
    from websockets.sync.client import connect

    command = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--no-first-run",
        "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-background-networking", "--disable-sync",
        f"--user-data-dir={profile}", f"--window-size={width},{height}", "--kiosk",
        f"--screen-info={{{width}x{height}}}", "--remote-debugging-port=0", "about:blank",
    ]  # fmt: skip
    browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        port, until = profile / "DevToolsActivePort", time.monotonic() + 60
        while not (port.is_file() and port.read_text().strip()):
            assert time.monotonic() < until, "Chromium did not start"
            time.sleep(0.1)
        address = f"http://127.0.0.1:{port.read_text().split()[0]}/json"
        with urllib.request.urlopen(address, timeout=20) as answer:
            page = next(item for item in json.load(answer) if item["type"] == "page")
        with connect(page["webSocketDebuggerUrl"], max_size=None) as socket:
            opened = Tab(socket)
            opened.call("Runtime.enable")
            opened.call("Page.navigate", url=url)
            yield opened
    finally:
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()


@pytest.fixture(name="tab")
def _tab():
    return tab
