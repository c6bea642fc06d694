from __future__ import annotations

from pathlib import Path

import pytest

from rocm3d.artifact.formats import FORMATS, format_by_content, format_by_name


@pytest.mark.parametrize("name", ["train.log", "model.safetensors", "run.json", "noending", "checkpoint.pt"])
def test_other_files_are_no_artifacts(name):
    assert format_by_name(Path(name)) is None


@pytest.mark.parametrize("head", [b"", b"\n", b"hello world\n", b"v0.1 of something\n", b"\0" * 64])
def test_bytes_that_say_nothing(head):
    assert format_by_content(head) is None


def test_the_ending_decides_whatever_its_case():
    assert format_by_name(Path("a/B.PLY")).name == "PLY"


def test_no_ending_belongs_to_two_formats():
    endings = [ending for form in FORMATS for ending in form.suffixes]

    assert len(endings) == len(set(endings))


@pytest.mark.parametrize(
    ("head", "called"),
    [
        (b"ply\r\n", "a PLY"), (b"glTF\2\0\0\0", "a GLB"), (b"\x93NUMPY", "an NPY"), (b"PK\x03\x04", "a zip archive"),
        (b"\xff\xd8\xff\xe1", "a JPEG"), (b"\0\0\0\x20ftypisom", "an MP4"), (b"RIFF\n\n\n\nAVI ", "an AVI"),
        (b"# made by x\nmtllib a.mtl\nv 0 0 0\n", "an OBJ"), (b" <HTML>", "an HTML page"),
    ],
)  # fmt: skip
def test_what_a_beginning_is_called(head, called):
    assert format_by_content(head).name_with_article == called
