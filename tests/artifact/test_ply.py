from __future__ import annotations

import numpy
import pytest

from rocm3d.artifact import ply
from rocm3d.artifact.artifact_report import InvalidArtifactError, UnreadableArtifactError

XYZ = [("x", "f4"), ("y", "f4"), ("z", "f4")]


def places(rows: numpy.ndarray) -> numpy.ndarray:
    return numpy.array([tuple(row) for row in rows], dtype=XYZ)


def polygons(*faces: tuple[int, ...]) -> numpy.ndarray:
    rows = numpy.empty(len(faces), dtype=[("vertex_indices", object)])
    rows["vertex_indices"] = [numpy.array(face, dtype="i4") for face in faces]
    return rows


def test_a_ply_of_nan_is_called_that(gaussians, write_ply):
    rows = gaussians(20)
    for name in rows.dtype.names:
        rows[name] = numpy.nan

    assert ply.inspect(write_ply(vertex=rows)).problems == ["all 20 Gaussians hold NaN or infinity"]


def test_no_vertices_at_all(write_ply):
    with pytest.raises(InvalidArtifactError, match="the header declares no vertex element"):
        ply.inspect(write_ply(camera=places([(0, 0, 0)])))


def test_vertices_without_a_place(write_ply):
    with pytest.raises(InvalidArtifactError, match="no x, y and z, only u"):
        ply.inspect(write_ply(vertex=numpy.zeros(2, dtype=[("u", "f4")])))


def test_faces_that_name_nothing(write_ply, cube):
    with pytest.raises(InvalidArtifactError, match="the faces have no vertex indices"):
        ply.inspect(write_ply(vertex=places(cube[0]), face=numpy.zeros(2, dtype=[("red", "u1")])))


def test_vertices_with_lists_are_not_read(write_ply):
    rows = numpy.empty(1, dtype=[*XYZ, ("near", object)])
    rows["near"] = [numpy.array([1], dtype="i4")]
    with pytest.raises(UnreadableArtifactError, match="list properties"):
        ply.inspect(write_ply(vertex=rows))


def test_a_cut_file_is_truncated(write_ply, gaussians):
    path = write_ply(vertex=gaussians(20))
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(InvalidArtifactError, match="truncated: the header declares 20 vertex"):
        ply.inspect(path)


def test_too_many_faces_to_be_read_one_by_one(write_ply, cube, monkeypatch):
    monkeypatch.setattr(ply, "_SLOW_ROWS", 1)
    with pytest.raises(UnreadableArtifactError, match="2 faces exceed the limit"):
        ply.inspect(write_ply(vertex=places(cube[0]), face=polygons((0, 1, 2), (0, 1, 2, 3))))


@pytest.mark.parametrize("text", [False, True])
def test_splats_of_both_layouts_are_known_by_their_header(write_ply, gaussians, text):
    report = ply.inspect(write_ply(vertex=gaussians(20), text=text))

    assert (report.kind, report.problems, report.metrics["gaussians"]) == ("splat", [], 20)


def test_packed_splats(write_ply):
    names = [f"{side}_{what}{axis}" for side in ("min", "max") for what in ("", "scale_") for axis in "xyz"]
    words = ("packed_position", "packed_rotation", "packed_scale", "packed_color")
    chunk = numpy.ones(1, dtype=[(name, "f4") for name in names])
    rows = numpy.ones(4, dtype=[(name, "u4") for name in words])

    assert ply.inspect(write_ply(chunk=chunk, vertex=rows)).metrics["gaussians"] == 4


@pytest.mark.parametrize("text", [False, True])
def test_points(write_ply, cube, text):
    report = ply.inspect(write_ply(vertex=places(cube[0]), text=text))

    assert (report.kind, report.metrics["points"], report.metrics["coloured"]) == ("points", 8, 0)


@pytest.mark.parametrize("text", [False, True])
def test_a_mesh_of_triangles(write_ply, cube, text):
    report = ply.inspect(write_ply(vertex=places(cube[0]), face=polygons(*cube[1].tolist()), text=text))

    assert (report.kind, report.metrics["faces"], report.metrics["watertight"]) == ("mesh", 12, 1)


def test_a_face_of_four_corners_is_two_triangles(write_ply, cube):
    report = ply.inspect(write_ply(vertex=places(cube[0]), face=polygons((0, 1, 3, 2), (4, 5, 6))))

    assert report.metrics["faces"] == 3


def test_a_mesh_without_faces_is_no_cloud(write_ply, cube):
    assert ply.inspect(write_ply(vertex=places(cube[0]), face=polygons())).problems == ["no faces: only 8 vertices"]
