from __future__ import annotations

import io

import pytest
from PIL import Image

from rocm3d.artifact import image, texture
from rocm3d.artifact.sight import Sight


def png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def judged():
    def judge(coloured=(), **textures: bytes | None) -> Sight:
        sight = Sight("mesh")
        texture.judge(sight, textures, set(coloured))
        return sight

    return judge


def test_a_texture_that_is_not_there(judged):
    assert judged(a=None).problems == ["texture a is missing"]


def test_a_texture_that_is_no_image(judged):
    assert judged(a=b"nothing").problems == ["texture a: damaged: the header cannot be read"]


def test_a_texture_too_large_to_be_read(judged, noise, monkeypatch):
    monkeypatch.setattr(image, "_PIXELS", 100)

    assert judged(a=png(Image.fromarray(noise()))).unread == ["texture a: 32 x 32 pixels exceed the limit"]


def test_one_colour_where_a_colour_is_meant(judged):
    sight = judged(coloured=["a"], a=png(Image.new("RGB", (16, 16), "red")))

    assert sight.problems == ["constant texture: only one colour in a"]
    assert sight.metrics == {"textures": 1, "constant_textures": 1}


def test_one_colour_elsewhere_is_counted_and_no_problem(judged):
    sight = judged(rough=png(Image.new("L", (16, 16), 7)))

    assert (sight.problems, sight.metrics["constant_textures"]) == ([], 1)


def test_a_placeholder_is_meant(judged):
    assert judged(coloured=["a"], a=png(Image.new("RGB", (4, 4)))).problems == []


def test_a_sound_texture(judged, noise):
    sight = judged(coloured=["a"], a=png(Image.fromarray(noise())))

    assert (sight.problems, sight.metrics) == ([], {"textures": 1, "constant_textures": 0})
