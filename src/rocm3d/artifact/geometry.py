"""The report of a triangle mesh: counts, faces without area, and whether the surface is watertight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError, count_nonfinite_rows, extent
from rocm3d.artifact.scatter import draw_surface

if TYPE_CHECKING:
    from rocm3d.artifact.artifact_report import Array

# A face counts as degenerate below this share of the squared extent of the mesh: the rounding error of float32.
_MIN_RELATIVE_AREA = 1e-14


def mesh_report(parts: list[tuple[Array, Array]]) -> ArtifactReport:
    """For one or more meshes, each as vertices (n, 3) and triangles (m, 3)."""
    import numpy

    vertices, faces = sum(len(v) for v, _ in parts), sum(len(f) for _, f in parts)
    for points, triangles in parts:
        if len(triangles) and (int(triangles.min()) < 0 or int(triangles.max()) >= len(points)):
            raise InvalidArtifactError("damaged: faces refer to vertices that do not exist")
    report = ArtifactReport("mesh")
    degenerate = sum(_count_degenerate(*part) for part in parts)
    nonfinite = sum(count_nonfinite_rows(v) for v, _ in parts)
    watertight = bool(faces) and not nonfinite and all(_is_watertight(*part) for part in parts if len(part[1]))
    all_vertices = numpy.concatenate([v for v, _ in parts]) if parts else numpy.zeros((0, 3))
    size, report.picture = extent(all_vertices), draw_surface(all_vertices, _merge_triangles(parts))
    report.metrics |= {"vertices": vertices, "faces": faces, "not_finite": nonfinite, "degenerate": degenerate}
    report.metrics |= {"watertight": int(watertight), "extent": size}
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
    import numpy

    offsets = numpy.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    shifted = [numpy.asarray(faces).reshape(-1, 3) + start for (_, faces), start in zip(parts, offsets, strict=False)]
    merged: Array = (
        numpy.concatenate(shifted).astype(numpy.int64) if shifted else numpy.zeros((0, 3), dtype=numpy.int64)
    )
    return merged


def _count_degenerate(points: Array, triangles: Array) -> int:
    import numpy

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
    import numpy

    corners = _weld_vertices(points)[triangles]
    # Faces that collapse to a line or a point are not part of the surface.
    distinct = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
    corners = corners[distinct]
    edges = numpy.sort(corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, faces_per_edge = numpy.unique(edges[:, 0] * len(points) + edges[:, 1], return_counts=True)
    return bool(len(faces_per_edge)) and bool((faces_per_edge == 2).all())


def _weld_vertices(points: Array) -> Array:
    """An index per point, equal for equal positions. Axis by axis, which is much faster than sorting rows."""
    import numpy

    welded: Array = numpy.zeros(len(points), dtype=numpy.int64)
    for axis in range(3):
        values, value_index = numpy.unique(points[:, axis], return_inverse=True)
        _, welded = numpy.unique(welded * len(values) + value_index.reshape(-1), return_inverse=True)
        welded = welded.reshape(-1).astype(numpy.int64)
    return welded
