"""The reports of triangle meshes and of point clouds, for every file format that holds one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError
from rocm3d.artifact.scatter import draw_points, draw_surface

if TYPE_CHECKING:
    from rocm3d.artifact.artifact_report import Array

# A face counts as degenerate below this share of the squared extent of the mesh: the rounding error of float32.
_MIN_RELATIVE_AREA = 1e-14


def mesh_report(parts: list[tuple[Array, Array]]) -> ArtifactReport:
    """For one or more meshes, each as vertices (n, 3) and triangles (m, 3)."""
    vertices, faces = sum(len(v) for v, _ in parts), sum(len(f) for _, f in parts)
    for points, triangles in parts:
        if len(triangles) and (int(triangles.min()) < 0 or int(triangles.max()) >= len(points)):
            raise InvalidArtifactError("damaged: faces refer to vertices that do not exist")
    degenerate = sum(_count_degenerate(*part) for part in parts)
    nonfinite = sum(count_nonfinite_rows(v) for v, _ in parts)
    watertight = bool(faces) and not nonfinite and all(_is_watertight(*part) for part in parts if len(part[1]))
    all_vertices = numpy.concatenate([v for v, _ in parts]) if parts else numpy.zeros((0, 3))
    metrics = {
        "vertices": vertices,
        "faces": faces,
        "not_finite": nonfinite,
        "degenerate": degenerate,
        "watertight": int(watertight),
        "extent": extent(all_vertices),
    }
    report = ArtifactReport("mesh", metrics, picture=draw_surface(all_vertices, _merge_triangles(parts)))
    if not vertices and not faces:
        report.problems.append("empty: no vertices and no faces")
        return report
    report.add_problem_if(nonfinite, f"{nonfinite} of {vertices} vertices hold NaN or infinity")
    report.add_problem_if(not faces, f"no faces: only {vertices} vertices")
    report.add_problem_if(faces and degenerate == faces, f"degenerate: none of its {faces} faces has an area")
    report.add_problem_if(
        faces and faces / 2 < degenerate < faces, f"degenerate: {degenerate} of {faces} faces have no area"
    )
    return report


def _merge_triangles(parts: list[tuple[Array, Array]]) -> Array:
    """The triangles of all parts, as indices into the concatenated vertices."""
    offsets = numpy.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    shifted = [numpy.asarray(faces).reshape(-1, 3) + start for (_, faces), start in zip(parts, offsets, strict=False)]
    return numpy.concatenate([numpy.zeros((0, 3), dtype=numpy.int64), *shifted]).astype(numpy.int64)


def _count_degenerate(points: Array, triangles: Array) -> int:
    if not len(triangles):
        return 0
    size = extent(points)
    with numpy.errstate(invalid="ignore", over="ignore"):
        a, b, c = (points[triangles[:, corner]].astype(numpy.float64) for corner in range(3))
        area = numpy.linalg.norm(numpy.cross(b - a, c - a), axis=1) / 2
        # Negated, so that a NaN area counts as degenerate.
        return int((~(area > _MIN_RELATIVE_AREA * size * size)).sum())


def _is_watertight(points: Array, triangles: Array) -> bool:
    """Whether every edge has exactly two faces. Vertices at equal positions are merged: texture seams split them."""
    corners = _weld_vertices(points)[triangles]
    # Faces that collapse to a line or a point are not part of the surface.
    distinct = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
    corners = corners[distinct]
    edges = numpy.sort(corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, faces_per_edge = numpy.unique(edges[:, 0] * len(points) + edges[:, 1], return_counts=True)
    return bool(len(faces_per_edge)) and bool((faces_per_edge == 2).all())


def _weld_vertices(points: Array) -> Array:
    """An index per point, equal for equal positions. Axis by axis, which is much faster than sorting rows."""
    welded: Array = numpy.zeros(len(points), dtype=numpy.int64)
    for axis in range(3):
        values, value_index = numpy.unique(points[:, axis], return_inverse=True)
        _, welded = numpy.unique(welded * len(values) + value_index.reshape(-1), return_inverse=True)
        welded = welded.reshape(-1).astype(numpy.int64)
    return welded


def point_cloud_report(points: Array, *, has_colours: bool, colours: Array | None = None) -> ArtifactReport:
    """For points (n, 3). `colours` are uint8 (n, 3) and used only for the picture."""
    nonfinite, size = count_nonfinite_rows(points), extent(points)
    metrics = {"points": len(points), "not_finite": nonfinite, "coloured": int(has_colours), "extent": size}
    report = ArtifactReport("points", metrics)
    if not len(points):
        report.problems.append("empty: no points")
        return report
    report.picture = draw_points(points, colours)
    report.add_problem_if(nonfinite == len(points), f"all {len(points)} points hold NaN or infinity")
    report.add_problem_if(0 < nonfinite < len(points), f"{nonfinite} of {len(points)} points hold NaN or infinity")
    report.add_problem_if(nonfinite == 0 and len(points) > 1 and size == 0, "collapsed: all points are in one place")
    return report


def extent(points: Array) -> float:
    """The diagonal of the bounding box of points (n, 3); points that are not finite are ignored."""
    finite = points[numpy.isfinite(points).all(axis=1)].astype(numpy.float64)
    if not len(finite):
        return 0.0
    with numpy.errstate(over="ignore"):
        diagonal = float(numpy.linalg.norm(finite.max(axis=0) - finite.min(axis=0)))
    return diagonal if numpy.isfinite(diagonal) else 0.0


def count_nonfinite_rows(rows: Array) -> int:
    """The number of rows (n, m) that contain NaN or infinity."""
    return int((~numpy.isfinite(rows).all(axis=1)).sum())
