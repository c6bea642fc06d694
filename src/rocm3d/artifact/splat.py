"""The report of Gaussian splats in a PLY: the layout of the 3DGS authors, and PlayCanvas' packed layout.

Plain: github.com/graphdeco-inria/gaussian-splatting stores log scales and opacity logits.
Packed: blog.playcanvas.com/compressing-gaussian-splats; 256 Gaussians share the bounds of one chunk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError
from rocm3d.artifact.geometry import count_nonfinite_rows, extent
from rocm3d.artifact.scatter import draw_points

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rocm3d.artifact.artifact_report import Array

_CHUNK_SIZE = 256
_BINS = 20
_TRANSPARENT_OPACITY, _OPAQUE_OPACITY = 1 / 255, 0.2
# Bounds for the largest scale, relative to the scene extent: below it is invisible, above it covers everything.
_MIN_RELATIVE_SCALE, _MAX_RELATIVE_SCALE = 1e-8, 10.0


def is_plain_layout(names: Sequence[str]) -> bool:
    """Whether the vertex properties are those of the 3DGS layout."""
    return {"x", "y", "z", "opacity", "scale_0", "rot_0"} <= set(names)


def is_packed_layout(names: Sequence[str]) -> bool:
    """Whether the vertex properties are those of the PlayCanvas layout."""
    return {"packed_position", "packed_rotation", "packed_scale", "packed_color"} <= set(names)


def plain_report(vertices: Array) -> ArtifactReport:
    """For Gaussians in the 3DGS layout."""
    names = vertices.dtype.names or ()
    scales = stack_columns(vertices, [name for name in names if name.startswith("scale_")])
    # Column by column: all at once would need a second copy of a large file.
    finite = numpy.ones(len(vertices), dtype=bool)
    for name in names:
        if vertices.dtype[name].kind == "f":
            finite &= numpy.isfinite(vertices[name])
    with numpy.errstate(over="ignore", invalid="ignore"):
        sizes = numpy.exp(scales.astype(numpy.float64))
        opacity = 1 / (1 + numpy.exp(-vertices["opacity"].astype(numpy.float64)))
    means = stack_columns(vertices, ["x", "y", "z"])
    report = _gaussian_report(means, sizes, opacity, int((~finite).sum()))
    report.picture = _preview(means, base_colours(vertices), opacity)
    report.metrics["sh_degree"] = _sh_degree(sum(name.startswith("f_rest_") for name in names))
    return report


def packed_report(vertices: Array, elements: Mapping[str, Array]) -> ArtifactReport:
    """For Gaussians of 16 bytes each. Rotations, colours and spherical harmonics are not unpacked."""
    chunks = elements.get("chunk")
    if chunks is None or len(chunks) * _CHUNK_SIZE < len(vertices):
        raise InvalidArtifactError("damaged: packed Gaussians without their chunk bounds")
    rows = numpy.arange(len(vertices)) // _CHUNK_SIZE
    means = unpack_bounded(vertices["packed_position"], chunks, ("min_%s", "max_%s"), rows)
    log_scales = unpack_bounded(vertices["packed_scale"], chunks, ("min_scale_%s", "max_scale_%s"), rows)
    opacity = (vertices["packed_color"] & 255).astype(numpy.float64) / 255
    nonfinite = count_nonfinite_rows(means) + count_nonfinite_rows(log_scales[numpy.isfinite(means).all(axis=1)])
    with numpy.errstate(over="ignore", invalid="ignore"):
        report = _gaussian_report(means, numpy.exp(log_scales), opacity, nonfinite)
    report.picture = _preview(means, packed_colours(vertices["packed_color"]), opacity)
    report.metrics["sh_degree"] = _sh_degree(len(elements["sh"].dtype.names or ()) if "sh" in elements else 0)
    report.unread.append("rotations, colours and spherical harmonics of the packed layout")
    return report


def packed_colours(words: Array) -> Array:
    """Red, green and blue (n, 3), 0 to 255, from the upper bytes."""
    return numpy.stack([words >> 24, (words >> 16) & 255, (words >> 8) & 255], axis=1)


def _sh_degree(coefficients: int) -> int:
    """Of the spherical harmonics without the base colour: there are 3 * ((degree + 1)^2 - 1)."""
    return int((coefficients / 3 + 1) ** 0.5 + 0.5) - 1


def _gaussian_report(means: Array, scales: Array, opacity: Array, nonfinite: int) -> ArtifactReport:
    count, scene_extent = len(means), extent(means)
    largest = scales.max(axis=1) if count else scales[:, :0].sum(axis=1)
    upper_bound = _MAX_RELATIVE_SCALE * max(scene_extent, 1e-30)
    sane = (largest > _MIN_RELATIVE_SCALE * scene_extent) & (largest < upper_bound)
    degenerate = int((~sane).sum()) if count > 1 else 0
    finite_opacity = opacity[numpy.isfinite(opacity)]
    transparent = int((finite_opacity < _TRANSPARENT_OPACITY).sum())
    metrics = {
        "gaussians": count,
        "not_finite": nonfinite,
        "degenerate": degenerate,
        "transparent": transparent,
        "opacity": float(finite_opacity.mean()) if len(finite_opacity) else 0.0,
        "extent": scene_extent,
    }
    histogram = numpy.histogram(finite_opacity, bins=_BINS, range=(0, 1))[0]
    report = ArtifactReport("splat", metrics, histogram=tuple(map(int, histogram)))
    if not count:
        report.problems.append("empty: no Gaussians")
        return report
    report.add_problem_if(nonfinite == count, f"all {count} Gaussians hold NaN or infinity")
    report.add_problem_if(0 < nonfinite < count, f"{nonfinite} of {count} Gaussians hold NaN or infinity")
    report.add_problem_if(
        nonfinite < count and transparent == len(finite_opacity), f"invisible: all {count} Gaussians are transparent"
    )
    report.add_problem_if(
        nonfinite == 0 and count > 1 and scene_extent == 0, "collapsed: all Gaussians are in one place"
    )
    report.add_problem_if(
        nonfinite == 0 and scene_extent and degenerate > count / 2,
        f"degenerate: scales of {degenerate} of {count} Gaussians",
    )
    return report


def _preview(means: Array, colours: Array | None, opacity: Array) -> str:
    """Draws the opaque Gaussians only, or all if none is opaque."""
    opaque = opacity > _OPAQUE_OPACITY
    drawn = opaque if opaque.any() else slice(None)
    return draw_points(means[drawn], None if colours is None else colours[drawn])


def base_colours(vertices: Array) -> Array | None:
    """uint8 (n, 3) from the degree-0 spherical harmonics: 0.5 + f_dc / (2 sqrt(pi)). None without f_dc."""
    names = ["f_dc_0", "f_dc_1", "f_dc_2"]
    if not set(names) <= set(vertices.dtype.names or ()):
        return None
    with numpy.errstate(invalid="ignore", over="ignore"):
        shades = numpy.nan_to_num(0.5 + stack_columns(vertices, names) / (2 * numpy.sqrt(numpy.pi)))
    colours: Array = (shades.clip(0, 1) * 255).astype(numpy.uint8)
    return colours


def stack_columns(vertices: Array, names: list[str]) -> Array:
    """Named properties as one array (n, m)."""
    return numpy.stack([numpy.asarray(vertices[name]) for name in names], axis=1)


def unpack_bounded(words: Array, chunks: Array, bounds: tuple[str, str], chunk_of_row: Array) -> Array:
    """Unpack x, y, z from 11, 10 and 11 bits (high to low): the position between the chunk's minimum and maximum."""
    parts = (words >> 21, (words >> 11) & 1023, words & 2047)
    columns = []
    for axis, part, steps in zip("xyz", parts, (2047, 1023, 2047), strict=True):
        low, high = (chunks[name % axis].astype(numpy.float64)[chunk_of_row] for name in bounds)
        with numpy.errstate(invalid="ignore", over="ignore"):
            columns.append(low + (high - low) * (part.astype(numpy.float64) / steps))
    return numpy.stack(columns, axis=1)
