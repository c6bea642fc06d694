"""The result for a file, whatever its content."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from rocm3d.artifact.formats import FORMATS
from rocm3d.artifact.inspection import inspect_file
from rocm3d.model.artifact import Artifact

ENDINGS = sorted(ending for form in FORMATS for ending in form.suffixes)
STARTS = [
    b"", b"ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n",
    b"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nend_header\n", b"glTF\x02\0\0\0",
    b"\x93NUMPY\x01\x00", b"PK\x03\x04", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"RIFF\0\0\0\0WEBP",
    b"BM\0\0\0\0\0\0\0\0", b"II*\0",
    b"P6 2 2 255\n", b"GIF89a", b"\0\0\0\x18ftypmp42", b"\x1a\x45\xdf\xa3", b"RIFF\0\0\0\0AVI ",
    b"v 0 0 0\nf 1 1 1\n",
]  # fmt: skip
ANY_FILE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def outcome_and_reason(path: Path) -> tuple[str, str]:
    artifact = inspect_file(path)
    return artifact.outcome, artifact.reason


def test_lone_surrogate_in_a_name_can_be_stored(tmp_path):
    (tmp_path / "x.gltf").write_text('{"asset": {"version": "\\ud800"}}')

    artifact = inspect_file(tmp_path / "x.gltf")

    assert Artifact.model_validate_json(artifact.model_dump_json()) == artifact
    assert "?" in artifact.reason


@pytest.mark.parametrize("ending", [".ply", ".glb", ".npz", ".png", ".mp4", ".obj"])
def test_a_file_of_0_bytes_is_called_that(tmp_path, ending):
    path = tmp_path / f"x{ending}"
    path.touch()

    assert outcome_and_reason(path) == ("bad", "empty: 0 bytes")


def test_a_wrong_extension_is_called_by_what_it_is(tmp_path, noise):
    path = tmp_path / "scene.glb"
    Image.fromarray(noise()).save(path, "PNG")

    artifact = inspect_file(path)

    assert (artifact.outcome, artifact.problems, artifact.metrics) == ("bad", ("wrong extension: a PNG",), {})


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"<!DOCTYPE html><html>404</html>", "an HTML page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a Git LFS pointer"),
        (b'{"error": "out of memory"}', "a JSON text"),
        (b"\x80\x04\x95rest", "a pickle"),
    ],
)
def test_what_programs_leave_in_place_of_an_artifact(tmp_path, content, what):
    (tmp_path / "x.ply").write_bytes(content)

    assert outcome_and_reason(tmp_path / "x.ply") == ("bad", f"wrong extension: {what}")


def test_noise_is_damage(tmp_path):
    (tmp_path / "x.png").write_bytes(b"\x07\x01\x09")

    assert outcome_and_reason(tmp_path / "x.png") == ("bad", "damaged: the first bytes are not those of a .png file")


def test_what_is_missing_was_not_read(tmp_path):
    assert outcome_and_reason(tmp_path / "x.png") == ("not_read", "cannot be opened: No such file or directory")


def test_a_folder_is_no_file(tmp_path):
    (tmp_path / "x.ply").mkdir()

    assert outcome_and_reason(tmp_path / "x.ply") == ("bad", "not a regular file")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "x.ply")

    assert outcome_and_reason(tmp_path / "x.ply") == ("bad", "not a regular file")


def test_a_name_that_no_file_can_have(tmp_path):
    assert inspect_file(Path(f"{tmp_path}/\0.ply")).outcome == "not_read"


def test_an_ending_that_is_no_artifact(tmp_path):
    (tmp_path / "notes.txt").write_text("words\n")

    assert outcome_and_reason(tmp_path / "notes.txt")[1].startswith("unknown file type")


@pytest.mark.parametrize(("name", "start"), [("x.exr", b"\x76/1\x01"), ("x.splat", b"\1\2"), ("x.spz", b"\x1f\x8b")])
def test_formats_that_nobody_reads_are_not_called_ok(tmp_path, name, start):
    (tmp_path / name).write_bytes(start)

    outcome, reason = outcome_and_reason(tmp_path / name)

    assert outcome == "not_read"
    assert reason.endswith("is not supported")


def test_without_the_extra_it_names_the_package_to_install(tmp_path, noise, monkeypatch):
    Image.fromarray(noise()).save(tmp_path / "x.png")
    monkeypatch.setitem(sys.modules, "PIL", None)

    assert outcome_and_reason(tmp_path / "x.png") == (
        "not_read",
        "PIL is not installed: pip install 'rocm3d[artifacts]'",
    )


def test_too_little_memory_is_not_the_fault_of_the_file(tmp_path, monkeypatch):
    numpy.save(tmp_path / "x.npy", numpy.ones(3))

    def greedy(path):
        raise MemoryError

    monkeypatch.setattr("rocm3d.artifact.number_file.inspect_npy", greedy)

    assert outcome_and_reason(tmp_path / "x.npy") == ("not_read", "reading it exceeds the memory limit")


@ANY_FILE
@given(st.sampled_from(ENDINGS), st.sampled_from(STARTS), st.binary(max_size=200))
def test_no_bytes_make_it_fail(tmp_path, ending, start, values):
    path = tmp_path / f"any{ending}"
    path.write_bytes(start + values)

    artifact = inspect_file(path)

    assert artifact.outcome in ("ok", "bad", "not_read")
    assert "\n" not in artifact.reason


@pytest.fixture(scope="module")
def valid_files(tmp_path_factory):
    """One valid file of each format that declares its length."""
    import trimesh

    folder = tmp_path_factory.mktemp("whole")
    random = numpy.random.default_rng(2)
    image = Image.fromarray(random.integers(0, 256, (24, 24, 3), dtype=numpy.uint8))
    for ending in ("png", "jpg", "bmp", "ppm", "tiff", "webp"):
        image.save(folder / f"a.{ending}")
    box = trimesh.creation.box()
    box.export(folder / "a.glb")
    box.export(folder / "a.ply")
    numpy.save(folder / "a.npy", random.random((5, 7)))
    numpy.savez_compressed(folder / "a.npz", a=random.random(9), points=random.random((6, 3)))
    return folder


@ANY_FILE
@given(data=st.data())
def test_no_truncation_is_called_ok(valid_files, tmp_path, data):
    source = data.draw(st.sampled_from(sorted(valid_files.iterdir())))
    content = source.read_bytes()
    path = tmp_path / source.name
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 60))])

    artifact = inspect_file(path)

    assert inspect_file(source).outcome == "ok"
    assert artifact.outcome == "bad"


@ANY_FILE
@given(data=st.data())
def test_no_damage_makes_it_fail(valid_files, tmp_path, data):
    source = data.draw(st.sampled_from(sorted(valid_files.iterdir())))
    content = bytearray(source.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / source.name
    path.write_bytes(content)

    assert inspect_file(path).outcome in ("ok", "bad", "not_read")
