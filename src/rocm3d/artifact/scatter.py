"""A small picture of points as they lie: no renderer, but enough to tell a scene from noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.artifact.image import thumbnail

if TYPE_CHECKING:
    from rocm3d.artifact.sight import Array

_SIDE = 160
_POINTS = 200_000
# Of the points on either side: a few that lie far off would leave no room for the rest.
_ASIDE = 1.0
_DARK, _LIGHT = 60.0, 220.0


def scatter(points: Array, colours: Array | None = None) -> str:
    """A PNG in base64, seen along the shortest side of the box; near ones cover far ones. Colours are 0 to 255."""
    try:
        from PIL import Image
    except ImportError:
        # Only the picture is lost: the numbers need no images.
        return ""
    import numpy

    step = max(1, len(points) // _POINTS)
    places = points[::step].astype(numpy.float64)
    kept = numpy.isfinite(places).all(axis=1) & (numpy.abs(places) < 1e30).all(axis=1)
    places = places[kept]
    if len(places) < 2:
        return ""
    low, high = numpy.percentile(places, [_ASIDE, 100 - _ASIDE], axis=0)
    depth, up, across = numpy.argsort(high - low, kind="stable")
    size = max(float((high - low)[across]), 1e-30)
    columns = ((places[:, across] - low[across]) / size * (_SIDE - 1)).round()
    rows = ((high[up] - places[:, up]) / size * (_SIDE - 1)).round()
    inside = (columns >= 0) & (columns < _SIDE) & (rows >= 0) & (rows < _SIDE)
    order = numpy.argsort(places[:, depth], kind="stable")
    order = order[inside[order]]
    canvas = numpy.zeros((_SIDE, _SIDE, 4), dtype=numpy.uint8)
    shades = _shaded(places[:, depth]) if colours is None else colours[::step][kept]
    canvas[rows[order].astype(int), columns[order].astype(int), :3] = shades[order]
    canvas[rows[order].astype(int), columns[order].astype(int), 3] = 255
    used = int(rows[order].max()) + 1 if len(order) else 1
    return thumbnail(Image.fromarray(canvas[:used]))


def _shaded(depth: Array) -> Array:
    """Near is light."""
    import numpy

    span = float(depth.max() - depth.min()) or 1.0
    shade = _DARK + (_LIGHT - _DARK) * (depth - depth.min()) / span
    return numpy.repeat(shade[:, None], 3, axis=1).astype(numpy.uint8)
