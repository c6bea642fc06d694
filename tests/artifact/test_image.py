from __future__ import annotations

import base64
import io
import zlib

import numpy
import pytest
from PIL import Image

from rocm3d.artifact import image
from rocm3d.artifact.sight import Unfit, Unread


@pytest.fixture
def seen(tmp_path):
    def look(pixels: numpy.ndarray, name: str = "a.png", mode: str | None = None):
        Image.fromarray(pixels).convert(mode).save(tmp_path / name) if mode else Image.fromarray(pixels).save(
            tmp_path / name
        )
        return image.look(tmp_path / name)

    return look


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp", "a.bmp", "a.ppm"])
def test_black(seen, name):
    assert seen(numpy.zeros((9, 9, 3), dtype="u1"), name).problems == ["black: every pixel is black"]


def test_one_colour(seen):
    assert seen(numpy.full((9, 9, 3), (9, 80, 200), dtype="u1")).problems == [
        "constant: every pixel has the same colour"
    ]


def test_nobody_sees_it(seen, noise):
    pixels = numpy.dstack([noise(), numpy.zeros((32, 32), dtype="u1")])

    assert seen(pixels).problems == ["invisible: every pixel is transparent"]


@pytest.mark.parametrize(("value", "problem"), [(numpy.nan, "4 of 16 values"), (numpy.inf, "4 of 16 values")])
def test_nan_in_a_float_format(seen, value, problem):
    depth = numpy.arange(16, dtype="f4").reshape(4, 4)
    depth[1] = value

    assert seen(depth, "depth.tiff").problems == [f"{problem} are NaN or infinite"]


def test_nothing_but_nan(seen):
    sight = seen(numpy.full((4, 4), numpy.nan, dtype="f4"), "depth.tiff")

    assert sight.problems == ["16 of 16 values are NaN or infinite"]
    assert sight.metrics["mean"] == 0


def test_more_pixels_than_are_read(tmp_path, noise, monkeypatch):
    monkeypatch.setattr(image, "_PIXELS", 100)
    Image.fromarray(noise()).save(tmp_path / "a.png")

    with pytest.raises(Unread, match="32 x 32 pixels exceed the limit"):
        image.look(tmp_path / "a.png")


def test_a_header_that_asks_for_any_amount_of_memory(tmp_path):
    place = tmp_path / "a.png"
    Image.new("L", (4, 4)).save(place)
    content = place.read_bytes()
    # Width and height, with the sum that the chunk needs.
    header = b"IHDR" + (0x7FFFFFF).to_bytes(4, "big") * 2 + content[24:29]
    place.write_bytes(content[:12] + header + zlib.crc32(header).to_bytes(4, "big") + content[33:])

    with pytest.raises(Unread, match="the image exceeds the pixel limit"):
        image.look(place)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.bmp"])
def test_a_cut_image_is_truncated(tmp_path, noise, name):
    Image.fromarray(noise()).save(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2])

    with pytest.raises(Unfit, match=r"truncated|damaged"):
        image.look(tmp_path / name)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp", "a.bmp", "a.ppm", "a.tiff"])
def test_an_image_is_measured(seen, noise, name):
    sight = seen(noise(), name)

    assert sight.problems == []
    assert (sight.metrics["width"], sight.metrics["height"], sight.metrics["channels"]) == (32, 32, 3)
    assert sight.metrics["mean"] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("mode", ["L", "P", "1", "CMYK", "LA", "RGBA"])
def test_every_mode_has_a_brightness(seen, noise, mode):
    name = "a.tiff" if mode == "CMYK" else "a.png"

    assert seen(noise(), name, mode).metrics["contrast"] > 0.5


def test_sixteen_bits(seen):
    sight = seen(numpy.arange(64, dtype="u2").reshape(8, 8) * 1000)

    assert sight.metrics["contrast"] == pytest.approx(63000 / 65535)


def test_a_picture_of_it_is_small(seen, noise):
    picture = Image.open(io.BytesIO(base64.b64decode(seen(noise(400)).picture)))

    assert picture.size == (256, 256)
