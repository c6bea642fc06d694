from __future__ import annotations

import numpy
import pytest

from rocm3d.artifact.artifact_report import InvalidArtifactError
from rocm3d.artifact.geometry import mesh_report

NOTHING = numpy.zeros((0, 3)), numpy.zeros((0, 3), dtype=int)


@pytest.mark.parametrize("parts", [[], [NOTHING]])
def test_nothing_is_empty(parts):
    assert mesh_report(parts).problems == ["empty: no vertices and no faces"]


@pytest.mark.parametrize("corner", [-1, 8])
def test_a_face_of_vertices_that_do_not_exist(cube, corner):
    vertices, faces = cube
    with pytest.raises(InvalidArtifactError, match="vertices that do not exist"):
        mesh_report([(vertices, numpy.vstack([faces, [0, 1, corner]]))])


def test_vertices_alone_are_no_mesh(cube):
    assert mesh_report([(cube[0], NOTHING[1])]).problems == ["no faces: only 8 vertices"]


def test_nan_is_reported_and_is_not_closed(cube):
    vertices, faces = cube
    vertices = vertices.copy()
    vertices[0] = numpy.nan

    report = mesh_report([(vertices, faces)])

    assert report.problems[0] == "1 of 8 vertices hold NaN or infinity"
    assert report.metrics["watertight"] == 0


def test_faces_without_area(cube):
    vertices, faces = cube

    assert mesh_report([(vertices * [1, 0, 0], faces)]).problems == ["degenerate: none of its 12 faces has an area"]
    assert mesh_report([(vertices, numpy.vstack([faces[:3], [[0, 0, 1]] * 5]))]).problems == [
        "degenerate: 5 of 8 faces have no area"
    ]


def test_a_hole_is_not_watertight_and_no_problem(cube):
    report = mesh_report([(cube[0], cube[1][1:])])

    assert (report.metrics["watertight"], report.problems) == (0, [])


def test_vertices_parted_along_a_seam_still_close(cube):
    vertices, faces = cube
    report = mesh_report([(vertices[faces].reshape(-1, 3), numpy.arange(36).reshape(-1, 3))])

    assert (report.metrics["vertices"], report.metrics["watertight"]) == (36, 1)


def test_the_numbers_of_several_meshes(cube):
    metrics = mesh_report([cube, (cube[0] + 5, cube[1])]).metrics

    assert (metrics["vertices"], metrics["faces"], metrics["degenerate"], metrics["watertight"]) == (16, 24, 0, 1)
    assert metrics["extent"] == pytest.approx(6 * 3**0.5)


def test_the_picture_holds_the_surface_of_every_part(cube):
    """The same triangles in one part or in two are the same picture."""
    both = numpy.concatenate([cube[0], cube[0] + 5])

    assert mesh_report([cube, (cube[0] + 5, cube[1])]).picture == (
        mesh_report([(both, numpy.concatenate([cube[1], cube[1] + 8]))]).picture
    )
    assert mesh_report([cube]).picture != ""
