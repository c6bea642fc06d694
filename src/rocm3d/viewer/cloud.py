"""Reads point clouds for drawing, from every format that can hold one."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

from rocm3d.artifact.arrays import read_arrays
from rocm3d.artifact.number_file import POINT_ARRAY_NAMES
from rocm3d.viewer.gaussians import chosen
from rocm3d.viewer.mesh import resolver
from rocm3d.viewer.shape import Cloud, refuse_empty

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.sight import Array

# For point clouds without colours.
_INK = (70, 90, 120)
_COLOURS = ("colors", "colours", "rgb", "color", "colour")


def read(path: Path, most: int) -> tuple[Cloud, list[str]]:
    """The point cloud, sampled down to the limit, and notes about the sampling."""
    import numpy

    points, colours = _archive(path) if zipfile.is_zipfile(path) else _scene(path)
    finite = numpy.isfinite(points).all(axis=1)
    refuse_empty(points[finite])
    rows, notes = chosen(int(finite.sum()), most, "points")
    if colours is None or len(colours) != len(points):
        ink: Array = numpy.broadcast_to(numpy.array(_INK, dtype=numpy.uint8), (len(rows), 3))
        return Cloud(points[finite][rows], ink), notes
    return Cloud(points[finite][rows], _bytes(colours[finite][rows])), notes


def _scene(path: Path) -> tuple[Array, Array | None]:
    """A PLY, GLB or OBJ that holds only points."""
    import numpy
    import trimesh

    with path.open("rb") as file:
        ending = path.suffix.lower().removeprefix(".")
        scene = trimesh.load_scene(file, file_type=ending, resolver=resolver(path), process=False)
    points, colours = [], []
    for name in scene.graph.nodes_geometry:
        place, kind = scene.graph[name]
        item: Any = scene.geometry[kind]
        points.append(trimesh.transform_points(numpy.asarray(item.vertices, dtype=numpy.float64), place))
        colours.append(numpy.asarray(item.colors)[:, :3] if len(getattr(item, "colors", ())) else None)
    whole = numpy.concatenate(points)
    if any(part is None for part in colours):
        return whole, None
    return whole, numpy.concatenate([part for part in colours if part is not None])


def _archive(path: Path) -> tuple[Array, Array | None]:
    """The arrays of a .npz whose names stand for points and colours."""
    import numpy

    held = {name: array for name, array in read_arrays(path) if array.dtype.kind in "fiu" and array.shape[-1:] == (3,)}
    points = next(held[name] for name in POINT_ARRAY_NAMES if name in held)
    colours = next((held[name] for name in _COLOURS if name in held), None)
    return points.reshape(-1, 3).astype(numpy.float64), None if colours is None else colours.reshape(-1, 3)


def _bytes(colours: Array) -> Array:
    """0 to 255; floats whose maximum is at most 1 are scaled by 255."""
    import numpy

    if colours.dtype.kind != "f":
        return colours.astype(numpy.uint8)
    plain = numpy.nan_to_num(colours.astype(numpy.float64))
    whole: Array = (plain * (255 if plain.max(initial=0) <= 1 else 1)).clip(0, 255).astype(numpy.uint8)
    return whole
