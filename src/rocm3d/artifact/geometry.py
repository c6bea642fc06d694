"""The report of a triangle mesh: counts, faces without area, and whether the surface is watertight."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.artifact.scatter import shaded
from rocm3d.artifact.sight import Sight, Unfit, broken_rows, extent

if TYPE_CHECKING:
    from rocm3d.artifact.sight import Array

# A face counts as degenerate below this share of the squared extent of the mesh: the rounding error of float32.
_NO_AREA = 1e-14


def surface(parts: list[tuple[Array, Array]]) -> Sight:
    """For one or more meshes, each as vertices (n, 3) and triangles (m, 3)."""
    import numpy

    vertices, faces = sum(len(v) for v, _ in parts), sum(len(f) for _, f in parts)
    for points, triangles in parts:
        if len(triangles) and (int(triangles.min()) < 0 or int(triangles.max()) >= len(points)):
            raise Unfit("damaged: faces refer to vertices that do not exist")
    sight = Sight("mesh")
    flat = sum(_flat(*part) for part in parts)
    broken = sum(broken_rows(v) for v, _ in parts)
    closed = bool(faces) and not broken and all(_closed(*part) for part in parts if len(part[1]))
    everything = numpy.concatenate([v for v, _ in parts]) if parts else numpy.zeros((0, 3))
    size, sight.picture = extent(everything), shaded(everything, _together(parts))
    sight.metrics |= {"vertices": vertices, "faces": faces, "not_finite": broken, "degenerate": flat}
    sight.metrics |= {"watertight": int(closed), "extent": size}
    if not vertices and not faces:
        sight.problems.append("empty: no vertices and no faces")
        return sight
    sight.object_to(broken, f"{broken} of {vertices} vertices hold NaN or infinity")
    sight.object_to(not faces, f"no faces: only {vertices} vertices")
    sight.object_to(faces and flat == faces, f"degenerate: none of its {faces} faces has an area")
    sight.object_to(faces and faces / 2 < flat < faces, f"degenerate: {flat} of {faces} faces have no area")
    return sight


def _together(parts: list[tuple[Array, Array]]) -> Array:
    """The triangles of all parts, as indices into the concatenated vertices."""
    import numpy

    starts = numpy.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    found = [numpy.asarray(faces).reshape(-1, 3) + start for (_, faces), start in zip(parts, starts, strict=False)]
    whole: Array = numpy.concatenate(found).astype(numpy.int64) if found else numpy.zeros((0, 3), dtype=numpy.int64)
    return whole


def _flat(points: Array, triangles: Array) -> int:
    import numpy

    if not len(triangles):
        return 0
    size = extent(points)
    with numpy.errstate(invalid="ignore", over="ignore"):
        a, b, c = (points[triangles[:, corner]].astype(numpy.float64) for corner in range(3))
        area = numpy.linalg.norm(numpy.cross(b - a, c - a), axis=1) / 2
        # Negated, so that a NaN area counts as degenerate.
        return int((~(area > _NO_AREA * size * size)).sum())


def _closed(points: Array, triangles: Array) -> bool:
    """Whether every edge has exactly two faces. Vertices at equal positions are merged: texture seams split them."""
    import numpy

    corners = _places(points)[triangles]
    # Faces that collapse to a line or a point are not part of the surface.
    distinct = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
    corners = corners[distinct]
    edges = numpy.sort(corners[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    _, times = numpy.unique(edges[:, 0] * len(points) + edges[:, 1], return_counts=True)
    return bool(len(times)) and bool((times == 2).all())


def _places(points: Array) -> Array:
    """An index per point, equal for equal positions. Axis by axis, which is much faster than sorting rows."""
    import numpy

    one: Array = numpy.zeros(len(points), dtype=numpy.int64)
    for axis in range(3):
        values, number = numpy.unique(points[:, axis], return_inverse=True)
        _, one = numpy.unique(one * len(values) + number.reshape(-1), return_inverse=True)
        one = one.reshape(-1).astype(numpy.int64)
    return one
