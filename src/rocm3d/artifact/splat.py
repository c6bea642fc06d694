"""The report of Gaussian splats in a PLY: the layout of the 3DGS authors, and PlayCanvas' packed layout.

Plain: github.com/graphdeco-inria/gaussian-splatting stores log scales and opacity logits.
Packed: blog.playcanvas.com/compressing-gaussian-splats; 256 Gaussians share the bounds of one chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.artifact.scatter import scatter
from rocm3d.artifact.sight import Sight, Unfit, broken_rows, extent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocm3d.artifact.sight import Array

_CHUNK = 256
_BINS = 20
_UNSEEN, _HIDES = 1 / 255, 0.2
# Bounds for the largest scale, relative to the scene extent: below it is invisible, above it covers everything.
_TINY, _HUGE = 1e-8, 10.0


def is_plain(names: Sequence[str]) -> bool:
    """Whether the vertex properties are those of the 3DGS layout."""
    return {"x", "y", "z", "opacity", "scale_0", "rot_0"} <= set(names)


def is_packed(names: Sequence[str]) -> bool:
    """Whether the vertex properties are those of the PlayCanvas layout."""
    return {"packed_position", "packed_rotation", "packed_scale", "packed_color"} <= set(names)


def plain(vertices: Array) -> Sight:
    """For Gaussians in the 3DGS layout."""
    import numpy

    names = vertices.dtype.names or ()
    scales = columns(vertices, [name for name in names if name.startswith("scale_")])
    everything = [name for name in names if vertices.dtype[name].kind == "f"]
    # Column by column: all at once would need a second copy of a large file.
    finite = numpy.ones(len(vertices), dtype=bool)
    for name in everything:
        finite &= numpy.isfinite(vertices[name])
    with numpy.errstate(over="ignore", invalid="ignore"):
        sizes = numpy.exp(scales.astype(numpy.float64))
        opacity = 1 / (1 + numpy.exp(-vertices["opacity"].astype(numpy.float64)))
    sight = _judged(columns(vertices, ["x", "y", "z"]), sizes, opacity, int((~finite).sum()))
    sight.picture = _picture(columns(vertices, ["x", "y", "z"]), constant_colours(vertices), opacity)
    rest = sum(name.startswith("f_rest_") for name in names)
    # 3 * ((degree + 1)^2 - 1) of them
    sight.metrics["sh_degree"] = int((rest / 3 + 1) ** 0.5 + 0.5) - 1
    return sight


def packed(vertices: Array, elements: Mapping[str, Array]) -> Sight:
    """For Gaussians of 16 bytes each. Rotations, colours and spherical harmonics are not unpacked."""
    import numpy

    chunks = elements.get("chunk")
    if chunks is None or len(chunks) * _CHUNK < len(vertices):
        raise Unfit("damaged: packed Gaussians without their chunk bounds")
    rows = numpy.arange(len(vertices)) // _CHUNK
    places = between(vertices["packed_position"], chunks, ("min_%s", "max_%s"), rows)
    logs = between(vertices["packed_scale"], chunks, ("min_scale_%s", "max_scale_%s"), rows)
    opacity = (vertices["packed_color"] & 255).astype(numpy.float64) / 255
    broken = broken_rows(places) + broken_rows(logs[numpy.isfinite(places).all(axis=1)])
    with numpy.errstate(over="ignore", invalid="ignore"):
        sight = _judged(places, numpy.exp(logs), opacity, broken)
    words = vertices["packed_color"]
    colours = numpy.stack([words >> 24, (words >> 16) & 255, (words >> 8) & 255], axis=1)
    sight.picture = _picture(places, colours, opacity)
    rest = elements.get("sh")
    names = () if rest is None else rest.dtype.names or ()
    sight.metrics["sh_degree"] = int((len(names) / 3 + 1) ** 0.5 + 0.5) - 1
    sight.unread.append("rotations, colours and spherical harmonics of the packed layout")
    return sight


def _judged(places: Array, sizes: Array, opacity: Array, broken: int) -> Sight:
    import numpy

    count, far = len(places), extent(places)
    largest = sizes.max(axis=1) if count else sizes[:, :0].sum(axis=1)
    wrong = int((~((largest > _TINY * far) & (largest < _HUGE * max(far, 1e-30)))).sum()) if count > 1 else 0
    known = opacity[numpy.isfinite(opacity)]
    unseen = int((known < _UNSEEN).sum())
    sight = Sight("splat", histogram=tuple(int(n) for n in numpy.histogram(known, bins=_BINS, range=(0, 1))[0]))
    sight.metrics |= {"gaussians": count, "not_finite": broken, "degenerate": wrong, "transparent": unseen}
    sight.metrics |= {"opacity": float(known.mean()) if len(known) else 0.0, "extent": far}
    if not count:
        sight.problems.append("empty: no Gaussians")
        return sight
    sight.object_to(broken == count, f"all {count} Gaussians hold NaN or infinity")
    sight.object_to(0 < broken < count, f"{broken} of {count} Gaussians hold NaN or infinity")
    sight.object_to(broken < count and unseen == len(known), f"invisible: all {count} Gaussians are transparent")
    sight.object_to(broken == 0 and count > 1 and far == 0, "collapsed: all Gaussians are in one place")
    sight.object_to(broken == 0 and far and wrong > count / 2, f"degenerate: scales of {wrong} of {count} Gaussians")
    return sight


def _picture(places: Array, colours: Array | None, opacity: Array) -> str:
    """Draws the opaque Gaussians only, or all if none is opaque."""
    seen = opacity > _HIDES
    if not seen.any():
        return scatter(places, colours)
    return scatter(places[seen], None if colours is None else colours[seen])


def constant_colours(vertices: Array) -> Array | None:
    """uint8 (n, 3) from the degree-0 spherical harmonics: 0.5 + f_dc / (2 sqrt(pi)). None without f_dc."""
    import numpy

    names = ["f_dc_0", "f_dc_1", "f_dc_2"]
    if not set(names) <= set(vertices.dtype.names or ()):
        return None
    with numpy.errstate(invalid="ignore", over="ignore"):
        shades = numpy.nan_to_num(0.5 + columns(vertices, names) / (2 * numpy.sqrt(numpy.pi)))
    colours: Array = (shades.clip(0, 1) * 255).astype(numpy.uint8)
    return colours


def columns(vertices: Array, names: list[str]) -> Array:
    """Named properties as one array (n, m)."""
    import numpy

    return numpy.stack([numpy.asarray(vertices[name]) for name in names], axis=1)


def between(words: Array, chunks: Array, bounds: tuple[str, str], rows: Array) -> Array:
    """Unpack x, y, z from 11, 10 and 11 bits (high to low): the position between the chunk's minimum and maximum."""
    import numpy

    parts = (words >> 21, (words >> 11) & 1023, words & 2047)
    columns = []
    for axis, part, steps in zip("xyz", parts, (2047, 1023, 2047), strict=True):
        low, high = (chunks[name % axis].astype(numpy.float64)[rows] for name in bounds)
        with numpy.errstate(invalid="ignore", over="ignore"):
            columns.append(low + (high - low) * (part.astype(numpy.float64) / steps))
    return numpy.stack(columns, axis=1)
