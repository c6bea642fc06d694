"""Draws small previews of points and surfaces: not a renderer, but enough to distinguish a scene from noise.

Drawn while a file is checked, under the same limits; reports use the stored picture.
docs/decisions/0012-pictures-of-a-report.md says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from rocm3d.artifact.image import encode_png

if TYPE_CHECKING:
    from rocm3d.artifact.artifact_report import Array

# Drawn at twice the size and scaled down: smooth edges.
_PNG_SIDE, _CANVAS_SIDE = 240, 480
_MAX_POINTS, _SURFACE_SAMPLES = 400_000, 220_000
# Percentiles cut off at either end: a few outliers would make everything else tiny.
_OUTLIER_PERCENT = 1.0
_DARK, _LIGHT = 70.0, 235.0
# Camera angles in degrees, away from the plane of the two longest sides, so that depth shows.
_TURN, _TILT = 32.0, 24.0
_MARGIN = 0.04


def draw_points(points: Array, colours: Array | None = None) -> str:
    """A PNG in base64 of points (n, 3), near over far; empty for fewer than two points. Colours are 0 to 255."""
    step = max(1, len(points) // _MAX_POINTS)
    positions, finite = _finite_points(points[::step])
    shades = None if colours is None else numpy.asarray(colours[::step][finite], dtype=numpy.uint8)
    return _draw(positions, shades)


def draw_surface(vertices: Array, triangles: Array) -> str:
    """The same for a surface: points sampled on its triangles (m, 3), lit from the viewer's left."""
    triangles = triangles[:: max(1, len(triangles) // _MAX_POINTS)]
    positions, finite = _finite_points(vertices)
    new_index = numpy.full(len(vertices), -1, dtype=numpy.int64)
    new_index[finite] = numpy.arange(len(positions))
    corners = new_index[triangles]
    corners = corners[(corners >= 0).all(axis=1)]
    if not len(corners):
        return draw_points(vertices)
    samples, normals = _sample_surface(_to_camera(positions), corners)
    light = numpy.abs(normals @ numpy.array([-0.45, 0.55, 0.70]))
    shades = _DARK + (_LIGHT - _DARK) * light.clip(0, 1)
    return _draw(samples, numpy.repeat(shades[:, None], 3, axis=1).astype(numpy.uint8), in_camera=True)


def _finite_points(points: Array) -> tuple[Array, Array]:
    """The points with finite coordinates, and their mask."""
    positions = points.astype(numpy.float64)
    # False for NaN, too.
    finite: Array = numpy.all(numpy.abs(positions) < 1e30, axis=1)
    return positions[finite], finite


def _to_camera(positions: Array) -> Array:
    """Camera coordinates: right, up, towards the viewer. The shortest side of the bounding box is the depth."""
    low, high = numpy.percentile(positions, [_OUTLIER_PERCENT, 100 - _OUTLIER_PERCENT], axis=0)
    depth, up, across = numpy.argsort(high - low, kind="stable")
    centred = (positions - (low + high) / 2)[:, [across, up, depth]]
    turn, tilt = numpy.radians(_TURN), numpy.radians(_TILT)
    about_up = numpy.array([[numpy.cos(turn), 0, numpy.sin(turn)], [0, 1, 0], [-numpy.sin(turn), 0, numpy.cos(turn)]])
    about_across = numpy.array(
        [[1, 0, 0], [0, numpy.cos(tilt), -numpy.sin(tilt)], [0, numpy.sin(tilt), numpy.cos(tilt)]]
    )
    turned: Array = centred @ (about_across @ about_up).T
    return turned


def _sample_surface(positions: Array, corners: Array) -> tuple[Array, Array]:
    """Points sampled uniformly by area, and their normals."""
    a, b, c = (positions[corners[:, number]] for number in range(3))
    with numpy.errstate(invalid="ignore", over="ignore"):
        normals = numpy.cross(b - a, c - a)
        area = numpy.nan_to_num(numpy.linalg.norm(normals, axis=1), posinf=0.0)
    share = area / area.sum() if area.sum() > 0 else numpy.full(len(area), 1 / len(area))
    rng = numpy.random.default_rng(0)
    triangle_of_sample = rng.choice(len(corners), size=_SURFACE_SAMPLES, p=share)
    u, v = rng.random((2, _SURFACE_SAMPLES))
    u, v = numpy.where(u + v > 1, 1 - u, u)[:, None], numpy.where(u + v > 1, 1 - v, v)[:, None]
    samples = a[triangle_of_sample] + u * (b - a)[triangle_of_sample] + v * (c - a)[triangle_of_sample]
    lengths = numpy.where(area > 0, area, 1.0)[:, None]
    return samples, (normals / lengths)[triangle_of_sample]


def _draw(positions: Array, colours: Array | None, *, in_camera: bool = False) -> str:
    try:
        from PIL import Image
    except ImportError:
        # Without Pillow there is no picture; the statistics do not need it.
        return ""
    if len(positions) < 2:
        return ""
    camera_points = positions if in_camera else _to_camera(positions)
    low, high = numpy.percentile(camera_points, [_OUTLIER_PERCENT, 100 - _OUTLIER_PERCENT], axis=0)
    size = max(float((high - low)[:2].max()), 1e-30) * (1 + 2 * _MARGIN)
    middle = (low + high) / 2
    canvas_size = (
        numpy.ceil(_CANVAS_SIDE * (high - low)[:2].clip(size / 8) * (1 + 2 * _MARGIN) / size)
        .clip(8, _CANVAS_SIDE)
        .astype(int)
    )
    columns = (
        ((camera_points[:, 0] - middle[0]) / size * _CANVAS_SIDE + canvas_size[0] / 2)
        .round()
        .clip(-9, _CANVAS_SIDE + 9)
        .astype(int)
    )
    rows = (
        ((middle[1] - camera_points[:, 1]) / size * _CANVAS_SIDE + canvas_size[1] / 2)
        .round()
        .clip(-9, _CANVAS_SIDE + 9)
        .astype(int)
    )
    order = numpy.argsort(camera_points[:, 2], kind="stable")
    shades = _shade_by_depth(camera_points[:, 2]) if colours is None else colours
    canvas = numpy.zeros((int(canvas_size[1]), int(canvas_size[0]), 4), dtype=numpy.uint8)
    # The fewer points, the larger the dots.
    dot = int(
        numpy.clip(round((2.0 * canvas_size[0] * canvas_size[1] / len(camera_points)) ** 0.5), 4 if in_camera else 2, 8)
    )
    down, right = (side.ravel() - dot // 2 for side in numpy.mgrid[:dot, :dot])
    # Sorted from far to near: of several dots on one pixel the last, nearest one stays.
    y, x = (rows[order, None] + down).ravel(), (columns[order, None] + right).ravel()
    inside = (x >= 0) & (x < canvas_size[0]) & (y >= 0) & (y < canvas_size[1])
    canvas[y[inside], x[inside], :3] = numpy.repeat(shades[order], dot * dot, axis=0)[inside]
    canvas[y[inside], x[inside], 3] = 255
    return encode_png(Image.fromarray(canvas), _PNG_SIDE)


def _shade_by_depth(depth: Array) -> Array:
    """Grey (n, 3): the nearer, the lighter."""
    low, high = numpy.percentile(depth, [_OUTLIER_PERCENT, 100 - _OUTLIER_PERCENT])
    shade = _DARK + (_LIGHT - _DARK) * ((depth - low) / (float(high - low) or 1.0)).clip(0, 1)
    return numpy.repeat(shade[:, None], 3, axis=1).astype(numpy.uint8)
