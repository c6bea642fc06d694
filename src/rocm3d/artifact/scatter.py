"""Draws small previews of points and surfaces: not a renderer, but enough to distinguish a scene from noise.

Drawn while a file is checked, under the same limits; reports use the stored picture.
docs/decisions/0012-pictures-of-a-report.md says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.artifact.image import encoded

if TYPE_CHECKING:
    from rocm3d.artifact.sight import Array

# Drawn at twice the size and scaled down: smooth edges.
_SIDE, _TWICE = 240, 480
_POINTS, _SPREAD = 400_000, 220_000
# Percentiles cut off at either end: a few outliers would make everything else tiny.
_ASIDE = 1.0
_DARK, _LIGHT = 70.0, 235.0
# Camera angles in degrees, away from the plane of the two longest sides, so that depth shows.
_TURN, _TILT = 32.0, 24.0
_MARGIN = 0.04


def scatter(points: Array, colours: Array | None = None) -> str:
    """A PNG in base64 of points (n, 3), near over far; empty for fewer than two points. Colours are 0 to 255."""
    import numpy

    step = max(1, len(points) // _POINTS)
    places, kept = _sound(points[::step])
    shades = None if colours is None else numpy.asarray(colours[::step][kept], dtype=numpy.uint8)
    return _drawn(places, shades)


def shaded(vertices: Array, triangles: Array) -> str:
    """The same for a surface: points sampled on its triangles (m, 3), lit from the viewer's left."""
    import numpy

    triangles = triangles[:: max(1, len(triangles) // _POINTS)]
    places, kept = _sound(vertices)
    number = numpy.full(len(vertices), -1, dtype=numpy.int64)
    number[kept] = numpy.arange(len(places))
    corners = number[triangles]
    corners = corners[(corners >= 0).all(axis=1)]
    if not len(corners):
        return scatter(vertices)
    spread, normals = _spread(_turned(places), corners)
    light = numpy.abs(normals @ numpy.array([-0.45, 0.55, 0.70]))
    shades = _DARK + (_LIGHT - _DARK) * light.clip(0, 1)
    return _drawn(spread, numpy.repeat(shades[:, None], 3, axis=1).astype(numpy.uint8), turned=True)


def _sound(points: Array) -> tuple[Array, Array]:
    """The points with finite coordinates, and their mask."""
    import numpy

    places = points.astype(numpy.float64)
    # False for NaN, too.
    kept: Array = numpy.all(numpy.abs(places) < 1e30, axis=1)
    return places[kept], kept


def _turned(places: Array) -> Array:
    """Camera coordinates: right, up, towards the viewer. The shortest side of the bounding box is the depth."""
    import numpy

    low, high = numpy.percentile(places, [_ASIDE, 100 - _ASIDE], axis=0)
    depth, up, across = numpy.argsort(high - low, kind="stable")
    seen = (places - (low + high) / 2)[:, [across, up, depth]]
    turn, tilt = numpy.radians(_TURN), numpy.radians(_TILT)
    about_up = numpy.array([[numpy.cos(turn), 0, numpy.sin(turn)], [0, 1, 0], [-numpy.sin(turn), 0, numpy.cos(turn)]])
    about_across = numpy.array(
        [[1, 0, 0], [0, numpy.cos(tilt), -numpy.sin(tilt)], [0, numpy.sin(tilt), numpy.cos(tilt)]]
    )
    whole: Array = seen @ (about_across @ about_up).T
    return whole


def _spread(places: Array, corners: Array) -> tuple[Array, Array]:
    """Points sampled uniformly by area, and their normals."""
    import numpy

    a, b, c = (places[corners[:, number]] for number in range(3))
    with numpy.errstate(invalid="ignore", over="ignore"):
        normals = numpy.cross(b - a, c - a)
        area = numpy.nan_to_num(numpy.linalg.norm(normals, axis=1), posinf=0.0)
    share = area / area.sum() if area.sum() > 0 else numpy.full(len(area), 1 / len(area))
    choice = numpy.random.default_rng(0)
    which = choice.choice(len(corners), size=_SPREAD, p=share)
    u, v = choice.random((2, _SPREAD))
    u, v = numpy.where(u + v > 1, 1 - u, u)[:, None], numpy.where(u + v > 1, 1 - v, v)[:, None]
    spread = a[which] + u * (b - a)[which] + v * (c - a)[which]
    lengths = numpy.where(area > 0, area, 1.0)[:, None]
    return spread, (normals / lengths)[which]


def _drawn(places: Array, colours: Array | None, *, turned: bool = False) -> str:
    try:
        from PIL import Image
    except ImportError:
        # Without Pillow there is no picture; the statistics do not need it.
        return ""
    import numpy

    if len(places) < 2:
        return ""
    seen = places if turned else _turned(places)
    low, high = numpy.percentile(seen, [_ASIDE, 100 - _ASIDE], axis=0)
    size = max(float((high - low)[:2].max()), 1e-30) * (1 + 2 * _MARGIN)
    middle = (low + high) / 2
    wide = numpy.ceil(_TWICE * (high - low)[:2].clip(size / 8) * (1 + 2 * _MARGIN) / size).clip(8, _TWICE).astype(int)
    columns = ((seen[:, 0] - middle[0]) / size * _TWICE + wide[0] / 2).round().clip(-9, _TWICE + 9).astype(int)
    rows = ((middle[1] - seen[:, 1]) / size * _TWICE + wide[1] / 2).round().clip(-9, _TWICE + 9).astype(int)
    order = numpy.argsort(seen[:, 2], kind="stable")
    shades = _by_depth(seen[:, 2]) if colours is None else colours
    canvas = numpy.zeros((int(wide[1]), int(wide[0]), 4), dtype=numpy.uint8)
    # The fewer points, the larger the dots.
    dot = int(numpy.clip(round((2.0 * wide[0] * wide[1] / len(seen)) ** 0.5), 4 if turned else 2, 8))
    down, right = (side.ravel() - dot // 2 for side in numpy.mgrid[:dot, :dot])
    # Sorted from far to near: of several dots on one pixel the last, nearest one stays.
    y, x = (rows[order, None] + down).ravel(), (columns[order, None] + right).ravel()
    inside = (x >= 0) & (x < wide[0]) & (y >= 0) & (y < wide[1])
    canvas[y[inside], x[inside], :3] = numpy.repeat(shades[order], dot * dot, axis=0)[inside]
    canvas[y[inside], x[inside], 3] = 255
    return encoded(Image.fromarray(canvas), _SIDE)


def _by_depth(depth: Array) -> Array:
    """Grey (n, 3): the nearer, the lighter."""
    import numpy

    low, high = numpy.percentile(depth, [_ASIDE, 100 - _ASIDE])
    shade = _DARK + (_LIGHT - _DARK) * ((depth - low) / (float(high - low) or 1.0)).clip(0, 1)
    return numpy.repeat(shade[:, None], 3, axis=1).astype(numpy.uint8)
