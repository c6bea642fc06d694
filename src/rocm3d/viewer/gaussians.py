"""Reads Gaussians from a PLY for drawing. The packed layout: developer.playcanvas.com, compressed PLY."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy
import plyfile

from rocm3d.artifact.splat import base_colours, is_packed_layout, packed_colours, stack_columns, unpack_bounded
from rocm3d.viewer.shape import Splats, refuse_empty

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.artifact_report import Array

_CHUNK_SIZE = 256
# Log scales are clipped to this range: beyond it, exp overflows or the Gaussian is invisible.
_MIN_LOG_SCALE, _MAX_LOG_SCALE = -40.0, 40.0
# A flat Gaussian with two scales gets a third: this share of the smaller one.
_THICKNESS = 0.01


def read(path: Path, max_gaussians: int) -> tuple[Splats, list[str]]:
    """The Gaussians, sampled down to the limit, and notes about the sampling."""
    ply_data = plyfile.PlyData.read(str(path))
    vertices: Array = ply_data["vertex"].data
    rows, notes = sample_rows(len(vertices), max_gaussians, "Gaussians")
    if is_packed_layout(vertices.dtype.names or ()):
        splats = _read_packed(vertices, ply_data["chunk"].data, rows)
    else:
        splats = _read_plain(vertices[rows])
    # If not all are drawn, they are enlarged, so that fewer Gaussians cover the same surface.
    growth = float(numpy.sqrt(len(vertices) / max(1, len(rows))))
    return _drop_nonfinite(replace(splats, scales=splats.scales * growth)), notes


def sample_rows(count: int, limit: int, noun: str) -> tuple[Array, list[str]]:
    """Indices of the rows to draw: all, or a random sample with a note that says so."""
    if count <= limit:
        return numpy.arange(count), []
    rows = numpy.sort(numpy.random.default_rng(0).choice(count, limit, replace=False))
    return rows, [f"{limit:,} of {count:,} {noun} are drawn (random sample)"]


def covariances(splats: Splats) -> Array:
    """Covariance matrices (n, 3, 3): R S S^T R^T."""
    w, x, y, z = (splats.rotations[:, at] for at in range(4))
    turn = numpy.stack(
        [
            numpy.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=1),
            numpy.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=1),
            numpy.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1),
        ],
        axis=1,
    )
    stretched = turn * splats.scales[:, None, :]
    product: Array = stretched @ stretched.transpose(0, 2, 1)
    return product


def _read_plain(vertices: Array) -> Splats:
    names = vertices.dtype.names or ()
    log_scales = stack_columns(vertices, [name for name in names if name.startswith("scale_")]).astype(numpy.float64)
    with numpy.errstate(over="ignore", invalid="ignore"):
        sizes = numpy.exp(log_scales.clip(_MIN_LOG_SCALE, _MAX_LOG_SCALE))
        opacities = 1 / (1 + numpy.exp(-vertices["opacity"].astype(numpy.float64)))
    if sizes.shape[1] < 3:
        thin = numpy.repeat(sizes.min(axis=1, keepdims=True) * _THICKNESS, 3 - sizes.shape[1], axis=1)
        sizes = numpy.concatenate([sizes, thin], axis=1)
    quats = stack_columns(vertices, [f"rot_{at}" for at in range(4)]).astype(numpy.float64)
    colours = base_colours(vertices)
    if colours is None:
        colours = numpy.full((len(vertices), 3), 160, dtype=numpy.uint8)
    return Splats(
        stack_columns(vertices, ["x", "y", "z"]).astype(numpy.float64),
        sizes,
        _normalize_quats(quats),
        colours,
        opacities,
    )


def _read_packed(vertices: Array, chunks: Array, rows: Array) -> Splats:
    vertices, chunk = vertices[rows], rows // _CHUNK_SIZE
    centres = unpack_bounded(vertices["packed_position"], chunks, ("min_%s", "max_%s"), chunk)
    log_scales = unpack_bounded(vertices["packed_scale"], chunks, ("min_scale_%s", "max_scale_%s"), chunk)
    words = vertices["packed_color"]
    colours = packed_colours(words) / 255
    if "min_r" in (chunks.dtype.names or ()):
        low, high = (stack_columns(chunks, [f"{end}_{name}" for name in "rgb"])[chunk] for end in ("min", "max"))
        colours = low + colours * (high - low)
    return Splats(
        centres,
        numpy.exp(log_scales.clip(_MIN_LOG_SCALE, _MAX_LOG_SCALE)),
        _unpack_quats(vertices["packed_rotation"]),
        (numpy.nan_to_num(colours).clip(0, 1) * 255).astype(numpy.uint8),
        (words & 255).astype(numpy.float64) / 255,
    )


def _unpack_quats(words: Array) -> Array:
    """Two bits give the index of the largest of w, x, y, z; the other three have ten bits each and determine it."""
    parts = [((words >> shift) & 1023).astype(numpy.float64) / 1023 for shift in (20, 10, 0)]
    others = (numpy.stack(parts, axis=1) - 0.5) * numpy.sqrt(2)
    largest = numpy.sqrt(numpy.maximum(0.0, 1 - (others**2).sum(axis=1)))
    largest_index, quats = (words >> 30).astype(int), numpy.empty((len(words), 4))
    for component in range(4):
        rows = largest_index == component
        quats[rows] = numpy.insert(others[rows], component, largest[rows], axis=1)
    return _normalize_quats(quats)


def _normalize_quats(quats: Array) -> Array:
    """Needed because trainers store quaternions unnormalized. Zero becomes the identity."""
    length = numpy.linalg.norm(quats, axis=1, keepdims=True)
    unit: Array = numpy.where(length > 0, quats / numpy.where(length > 0, length, 1), [1.0, 0.0, 0.0, 0.0])
    return unit


def _drop_nonfinite(splats: Splats) -> Splats:
    finite = numpy.isfinite(splats.centres).all(axis=1) & numpy.isfinite(splats.scales).all(axis=1)
    finite &= numpy.isfinite(splats.rotations).all(axis=1) & numpy.isfinite(splats.opacities)
    refuse_empty(splats.centres[finite])
    return Splats(**{name: part[finite] for name, part in vars(splats).items()})
