from __future__ import annotations

import base64
import io
import zlib

import numpy
import pytest
from PIL import Image

from rocm3d.artifact import image
from rocm3d.artifact.artifact_report import InvalidArtifactError, UnreadableArtifactError


@pytest.fixture
def inspect_pixels(tmp_path):
    def inspect_array(pixels: numpy.ndarray, name: str = "a.png", mode: str | None = None):
        Image.fromarray(pixels).convert(mode).save(tmp_path / name) if mode else Image.fromarray(pixels).save(
            tmp_path / name
        )
        return image.inspect(tmp_path / name)

    return inspect_array


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp", "a.bmp", "a.ppm"])
def test_black(inspect_pixels, name):
    assert inspect_pixels(numpy.zeros((9, 9, 3), dtype="u1"), name).problems == ["black: every pixel is black"]


def test_one_colour(inspect_pixels):
    assert inspect_pixels(numpy.full((9, 9, 3), (9, 80, 200), dtype="u1")).problems == [
        "constant: every pixel has the same colour"
    ]


def test_nobody_sees_it(inspect_pixels, noise):
    pixels = numpy.dstack([noise(), numpy.zeros((32, 32), dtype="u1")])

    assert inspect_pixels(pixels).problems == ["invisible: every pixel is transparent"]


@pytest.mark.parametrize(("value", "problem"), [(numpy.nan, "4 of 16 values"), (numpy.inf, "4 of 16 values")])
def test_nan_in_a_float_format(inspect_pixels, value, problem):
    depth = numpy.arange(16, dtype="f4").reshape(4, 4)
    depth[1] = value

    assert inspect_pixels(depth, "depth.tiff").problems == [f"{problem} are NaN or infinite"]


def test_nothing_but_nan(inspect_pixels):
    report = inspect_pixels(numpy.full((4, 4), numpy.nan, dtype="f4"), "depth.tiff")

    assert report.problems == ["16 of 16 values are NaN or infinite"]
    assert report.metrics["mean"] == 0


def test_more_pixels_than_are_read(tmp_path, noise, monkeypatch):
    monkeypatch.setattr(image, "_PIXELS", 100)
    Image.fromarray(noise()).save(tmp_path / "a.png")

    with pytest.raises(UnreadableArtifactError, match="32 x 32 pixels exceed the limit"):
        image.inspect(tmp_path / "a.png")


def test_a_header_that_requests_any_amount_of_memory(tmp_path):
    path = tmp_path / "a.png"
    Image.new("L", (4, 4)).save(path)
    content = path.read_bytes()
    # Width and height, with the sum that the chunk needs.
    header = b"IHDR" + (0x7FFFFFF).to_bytes(4, "big") * 2 + content[24:29]
    path.write_bytes(content[:12] + header + zlib.crc32(header).to_bytes(4, "big") + content[33:])

    with pytest.raises(UnreadableArtifactError, match="the image exceeds the pixel limit"):
        image.inspect(path)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.bmp"])
def test_a_cut_image_is_truncated(tmp_path, noise, name):
    Image.fromarray(noise()).save(tmp_path / name)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2])

    with pytest.raises(InvalidArtifactError, match=r"truncated|damaged"):
        image.inspect(tmp_path / name)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.webp", "a.bmp", "a.ppm", "a.tiff"])
def test_an_image_is_measured(inspect_pixels, noise, name):
    report = inspect_pixels(noise(), name)

    assert report.problems == []
    assert (report.metrics["width"], report.metrics["height"], report.metrics["channels"]) == (32, 32, 3)
    assert report.metrics["mean"] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("mode", ["L", "P", "1", "CMYK", "LA", "RGBA"])
def test_every_mode_has_a_brightness(inspect_pixels, noise, mode):
    name = "a.tiff" if mode == "CMYK" else "a.png"

    assert inspect_pixels(noise(), name, mode).metrics["contrast"] > 0.5


def test_sixteen_bits(inspect_pixels):
    report = inspect_pixels(numpy.arange(64, dtype="u2").reshape(8, 8) * 1000)

    assert report.metrics["contrast"] == pytest.approx(63000 / 65535)


def test_a_picture_of_it_is_small(inspect_pixels, noise):
    picture = Image.open(io.BytesIO(base64.b64decode(inspect_pixels(noise(400)).picture)))

    assert picture.size == (256, 256)
