"""Reads Gaussians from a PLY for drawing. The packed layout: developer.playcanvas.com, compressed PLY."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.artifact.splat import unpack_bounded, stack_columns, base_colours, is_packed_layout
from rocm3d.viewer.shape import Splats, refuse_empty

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.sight import Array

_CHUNK = 256
# Log scales are clipped to this range: beyond it, exp overflows or the Gaussian is invisible.
_LEAST, _MOST = -40.0, 40.0
# A flat Gaussian with two scales gets a third: this share of the smaller one.
_THIN = 0.01


def read(path: Path, most: int) -> tuple[Splats, list[str]]:
    """The Gaussians, sampled down to the limit, and notes about the sampling."""
    import numpy
    import plyfile

    held = plyfile.PlyData.read(str(path))
    vertices: Array = held["vertex"].data
    rows, notes = chosen(len(vertices), most, "Gaussians")
    if is_packed_layout(vertices.dtype.names or ()):
        splats = _packed(vertices, held["chunk"].data, rows)
    else:
        splats = _plain(vertices[rows])
    if len(rows) < len(vertices):
        # Enlarged, so that fewer Gaussians cover the same surface.
        larger = float(numpy.sqrt(len(vertices) / len(rows)))
        splats = Splats(splats.centres, splats.sizes * larger, splats.rotations, splats.colours, splats.opacities)
    return _finite(splats), notes


def chosen(count: int, most: int, what: str) -> tuple[Array, list[str]]:
    """Indices of the rows to draw: all, or a random sample with a note that says so."""
    import numpy

    if count <= most:
        return numpy.arange(count), []
    rows = numpy.sort(numpy.random.default_rng(0).choice(count, most, replace=False))
    return rows, [f"{most:,} of {count:,} {what} are drawn (random sample)"]


def covariances(splats: Splats) -> Array:
    """Covariance matrices (n, 3, 3): R S S^T R^T."""
    import numpy

    w, x, y, z = (splats.rotations[:, at] for at in range(4))
    turn = numpy.stack(
        [
            numpy.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=1),
            numpy.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=1),
            numpy.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1),
        ],
        axis=1,
    )
    stretched = turn * splats.sizes[:, None, :]
    product: Array = stretched @ stretched.transpose(0, 2, 1)
    return product


def _plain(vertices: Array) -> Splats:
    import numpy

    names = vertices.dtype.names or ()
    logs = stack_columns(vertices, [name for name in names if name.startswith("scale_")]).astype(numpy.float64)
    with numpy.errstate(over="ignore", invalid="ignore"):
        sizes = numpy.exp(logs.clip(_LEAST, _MOST))
        opacities = 1 / (1 + numpy.exp(-vertices["opacity"].astype(numpy.float64)))
    if sizes.shape[1] < 3:
        thin = numpy.repeat(sizes.min(axis=1, keepdims=True) * _THIN, 3 - sizes.shape[1], axis=1)
        sizes = numpy.concatenate([sizes, thin], axis=1)
    turned = stack_columns(vertices, [f"rot_{at}" for at in range(4)]).astype(numpy.float64)
    colours = base_colours(vertices)
    if colours is None:
        colours = numpy.full((len(vertices), 3), 160, dtype=numpy.uint8)
    return Splats(stack_columns(vertices, ["x", "y", "z"]).astype(numpy.float64), sizes, _unit(turned), colours, opacities)


def _packed(vertices: Array, chunks: Array, rows: Array) -> Splats:
    import numpy

    vertices, chunk = vertices[rows], rows // _CHUNK
    centres = unpack_bounded(vertices["packed_position"], chunks, ("min_%s", "max_%s"), chunk)
    logs = unpack_bounded(vertices["packed_scale"], chunks, ("min_scale_%s", "max_scale_%s"), chunk)
    words = vertices["packed_color"]
    colours = numpy.stack([words >> 24, (words >> 16) & 255, (words >> 8) & 255], axis=1) / 255
    if "min_r" in (chunks.dtype.names or ()):
        low, high = (stack_columns(chunks, [f"{end}_{name}" for name in "rgb"])[chunk] for end in ("min", "max"))
        colours = low + colours * (high - low)
    return Splats(
        centres,
        numpy.exp(logs.clip(_LEAST, _MOST)),
        _unpacked(vertices["packed_rotation"]),
        (numpy.nan_to_num(colours).clip(0, 1) * 255).astype(numpy.uint8),
        (words & 255).astype(numpy.float64) / 255,
    )


def _unpacked(words: Array) -> Array:
    """Two bits give the index of the largest of w, x, y, z; the other three have ten bits each and determine it."""
    import numpy

    parts = [((words >> shift) & 1023).astype(numpy.float64) / 1023 for shift in (20, 10, 0)]
    others = (numpy.stack(parts, axis=1) - 0.5) * numpy.sqrt(2)
    largest = numpy.sqrt(numpy.maximum(0.0, 1 - (others**2).sum(axis=1)))
    which, turned = (words >> 30).astype(int), numpy.empty((len(words), 4))
    for place in range(4):
        mine = which == place
        turned[mine] = numpy.insert(others[mine], place, largest[mine], axis=1)
    return _unit(turned)


def _unit(turned: Array) -> Array:
    """Needed because trainers store quaternions unnormalized. Zero becomes the identity."""
    import numpy

    length = numpy.linalg.norm(turned, axis=1, keepdims=True)
    unit: Array = numpy.where(length > 0, turned / numpy.where(length > 0, length, 1), [1.0, 0.0, 0.0, 0.0])
    return unit


def _finite(splats: Splats) -> Splats:
    import numpy

    kept = numpy.isfinite(splats.centres).all(axis=1) & numpy.isfinite(splats.sizes).all(axis=1)
    kept &= numpy.isfinite(splats.rotations).all(axis=1) & numpy.isfinite(splats.opacities)
    refuse_empty(splats.centres[kept])
    parts = (splats.centres, splats.sizes, splats.rotations, splats.colours, splats.opacities)
    return Splats(*(part[kept] for part in parts))
