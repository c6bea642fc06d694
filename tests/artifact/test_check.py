from __future__ import annotations

from pathlib import Path

import numpy
import pytest
from PIL import Image

from rocm3d.artifact import check as module
from rocm3d.artifact.check import check, check_all, is_artifact
from rocm3d.artifact.inspection import inspect_file
from rocm3d.model.artifact import METRICS


def test_a_file_that_takes_too_long_was_not_read(tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.ones(3))

    artifact = check(tmp_path / "a.npy", seconds=0.01)

    assert (artifact.outcome, artifact.kind) == ("not_read", "arrays")
    assert artifact.reason == "reading it took longer than the limit of 0.01 s"


def test_a_file_that_takes_too_much_was_not_read(tmp_path):
    rows = 40_000_000
    head = f"ply\nformat binary_little_endian 1.0\nelement vertex {rows}\nproperty float x\n".encode()
    head += b"property float y\nproperty float z\nend_header\n"
    with (tmp_path / "a.ply").open("wb") as file:
        file.write(head)
        # Takes no room on the disk, and much in memory.
        file.truncate(len(head) + rows * 12)

    artifact = check(tmp_path / "a.ply", memory=768 * 1024**2)

    assert (artifact.outcome, artifact.reason) == ("not_read", "reading it exceeds the memory limit")


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import os; os.kill(os.getpid(), 11)", "the reader was killed by SIGSEGV"),
        ("raise SystemExit(7)", "the reader exited with code 7"),
    ],
)
def test_a_reader_that_dies_takes_nobody_with_it(tmp_path, monkeypatch, program, reason):
    monkeypatch.setattr(module, "_PROGRAM", program)

    assert check(tmp_path / "a.ply").reason == reason


def test_modules_in_the_current_folder_are_not_loaded(tmp_path, monkeypatch):
    (tmp_path / "numpy.py").write_text("raise SystemExit(9)\n")
    numpy.save(tmp_path / "a.npy", numpy.ones(3))
    monkeypatch.chdir(tmp_path)

    assert check(Path("a.npy")).outcome == "ok"


def test_it_returns_the_same_as_inspection(tmp_path):
    numpy.savez(tmp_path / "a.npz", scores=numpy.linspace(0, 1, 5))

    assert check(tmp_path / "a.npz") == inspect_file(tmp_path / "a.npz")


def test_one_that_ends_its_process_loses_no_other(tmp_path, monkeypatch):
    program = (
        "import sys; sys.path[:] = sys.argv.pop(1).split({!r}); import os; from rocm3d.artifact import inspection\n"
    )
    program += "real = inspection.inspect_file\n"
    program += "inspection.inspect_file = lambda path: os.abort() if path.name == 'b.npy' else real(path)\n"
    program += "inspection.main()"
    monkeypatch.setattr(module, "_PROGRAM", program)
    for name in "abc":
        numpy.save(tmp_path / f"{name}.npy", numpy.ones(3))

    result = check_all([tmp_path / f"{name}.npy" for name in "abc"])

    assert [entry.reason for entry in result] == ["", "the reader was killed by SIGABRT", ""]


def test_more_than_one_process_can_be_needed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_BATCH", 2)
    numpy.save(tmp_path / "a.npy", numpy.ones(3))

    assert [entry.outcome for entry in check_all([tmp_path / "a.npy"] * 3)] == ["ok"] * 3
    assert check_all([]) == []


def test_by_name_alone():
    assert is_artifact(Path("out/scene.PLY"))
    assert not is_artifact(Path("out/train.log"))


def test_every_metric_of_a_reader_is_documented(tmp_path, gaussians, write_ply, write_mesh, write_video, moving):
    Image.fromarray(moving[0]).save(tmp_path / "i.png")
    numpy.save(tmp_path / "a.npy", numpy.arange(4.0))
    points = numpy.zeros(2, dtype=[("x", "f4"), ("y", "f4"), ("z", "f4")])
    places = [
        write_ply("s.ply", vertex=gaussians(9)), write_ply("p.ply", vertex=points), write_mesh("m.glb"),
        write_video("v.mp4", moving), tmp_path / "i.png", tmp_path / "a.npy",
    ]  # fmt: skip

    for artifact in map(inspect_file, places):
        known = {key.replace("ARRAY", "array") for key in METRICS[artifact.kind]}
        assert set(artifact.metrics) == known, artifact.kind
    assert {inspect_file(path).kind for path in places} == set(METRICS)


XYZ = b"property float x\nproperty float y\nproperty float z\n"
MANY = b"1000000000000"
PROMISES = {
    "a.ply": b"ply\nformat binary_little_endian 1.0\nelement vertex %b\n%bend_header\n" % (MANY, XYZ) + bytes(64),
    "b.ply": b"ply\nformat ascii 1.0\nelement vertex 1\n%belement face %b\nproperty list uchar int vertex_indices\n"
    b"end_header\n0 0 0\n" % (XYZ, MANY),
    "c.npy": b"\x93NUMPY\x01\x00\x76\x00"
    + (b"{'descr': '<f4', 'fortran_order': False, 'shape': (%b,), }" % MANY).ljust(117)
    + b"\n",
    "d.gltf": b'{"asset": {"version": "2.0"}, "meshes": [{}], "accessors": [{"count": %b}]}' % MANY,
}


@pytest.mark.parametrize("name", PROMISES)
def test_a_header_that_promises_a_million_million_is_refused_before_anything_is_taken(tmp_path, name):
    """With just the memory that the readers need: believing the header would exceed the memory limit."""
    (tmp_path / name).write_bytes(PROMISES[name])

    result = check(tmp_path / name, memory=2 * 1024**3)

    assert result.outcome == "bad"
    assert "memory" not in result.reason


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("a.exr", b"\x76\x2f\x31\x01rest", "an OpenEXR image is not supported"),
        ("a.drc", b"DRACO\x02\x02rest", "a Draco mesh is not supported"),
    ],
)
def test_what_nobody_reads_is_named_and_not_called_broken(tmp_path, name, content, what):
    (tmp_path / name).write_bytes(content)

    result = check(tmp_path / name)

    assert (result.outcome, result.reason) == ("not_read", what)
