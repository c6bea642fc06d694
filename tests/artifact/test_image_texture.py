from __future__ import annotations

import io

import pytest
from PIL import Image

from rocm3d.artifact import image
from rocm3d.artifact.artifact_report import ArtifactReport


def png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def checked():
    def check(coloured=(), **textures: bytes | None) -> ArtifactReport:
        report = ArtifactReport("mesh")
        image.check_textures(report, textures, set(coloured))
        return report

    return check


def test_a_texture_that_does_not_exist(checked):
    assert checked(a=None).problems == ["texture a is missing"]


def test_a_texture_that_is_no_image(checked):
    assert checked(a=b"nothing").problems == ["texture a: damaged: the header cannot be read"]


def test_a_texture_too_large_to_be_read(checked, noise, monkeypatch):
    monkeypatch.setattr(image, "_PIXELS", 100)

    assert checked(a=png(Image.fromarray(noise()))).unread == ["texture a: 32 x 32 pixels exceed the limit"]


def test_one_colour_where_a_colour_is_meant(checked):
    report = checked(coloured=["a"], a=png(Image.new("RGB", (16, 16), "red")))

    assert report.problems == ["constant texture: only one colour in a"]
    assert report.metrics == {"textures": 1, "constant_textures": 1}


def test_one_colour_elsewhere_is_counted_and_no_problem(checked):
    report = checked(rough=png(Image.new("L", (16, 16), 7)))

    assert (report.problems, report.metrics["constant_textures"]) == ([], 1)


def test_a_placeholder_is_meant(checked):
    assert checked(coloured=["a"], a=png(Image.new("RGB", (4, 4)))).problems == []


def test_a_sound_texture(checked, noise):
    report = checked(coloured=["a"], a=png(Image.fromarray(noise())))

    assert (report.problems, report.metrics) == ([], {"textures": 1, "constant_textures": 0})
