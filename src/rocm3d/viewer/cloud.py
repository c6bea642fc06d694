"""Reads point clouds for drawing, from every format that can hold one."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

from rocm3d.artifact.arrays import read_arrays
from rocm3d.artifact.number_file import POINT_ARRAY_NAMES
from rocm3d.viewer.gaussians import sample_rows
from rocm3d.viewer.mesh import folder_resolver
from rocm3d.viewer.shape import PointCloud, refuse_empty

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.artifact_report import Array

# For point clouds without colours.
_DEFAULT_COLOUR = (70, 90, 120)
_COLOUR_ARRAY_NAMES = ("colors", "colours", "rgb", "color", "colour")


def read(path: Path, max_points: int) -> tuple[PointCloud, list[str]]:
    """The point cloud, sampled down to the limit, and notes about the sampling."""
    import numpy

    points, colours = _read_npz(path) if zipfile.is_zipfile(path) else _read_scene(path)
    finite = numpy.isfinite(points).all(axis=1)
    refuse_empty(points[finite])
    rows, notes = sample_rows(int(finite.sum()), max_points, "points")
    if colours is None or len(colours) != len(points):
        default_colours: Array = numpy.broadcast_to(numpy.array(_DEFAULT_COLOUR, dtype=numpy.uint8), (len(rows), 3))
        return PointCloud(points[finite][rows], default_colours), notes
    return PointCloud(points[finite][rows], _to_uint8(colours[finite][rows])), notes


def _read_scene(path: Path) -> tuple[Array, Array | None]:
    """A PLY, GLB or OBJ that holds only points."""
    import numpy
    import trimesh

    with path.open("rb") as file:
        ending = path.suffix.lower().removeprefix(".")
        scene = trimesh.load_scene(file, file_type=ending, resolver=folder_resolver(path), process=False)
    points, colours = [], []
    for name in scene.graph.nodes_geometry:
        transform, geometry_name = scene.graph[name]
        geometry: Any = scene.geometry[geometry_name]
        points.append(trimesh.transform_points(numpy.asarray(geometry.vertices, dtype=numpy.float64), transform))
        colours.append(numpy.asarray(geometry.colors)[:, :3] if len(getattr(geometry, "colors", ())) else None)
    merged = numpy.concatenate(points)
    if any(part is None for part in colours):
        return merged, None
    return merged, numpy.concatenate([part for part in colours if part is not None])


def _read_npz(path: Path) -> tuple[Array, Array | None]:
    """The arrays of a .npz whose names stand for points and colours."""
    import numpy

    candidates = {
        name: array for name, array in read_arrays(path) if array.dtype.kind in "fiu" and array.shape[-1:] == (3,)
    }
    points = next(candidates[name] for name in POINT_ARRAY_NAMES if name in candidates)
    colours = next((candidates[name] for name in _COLOUR_ARRAY_NAMES if name in candidates), None)
    return points.reshape(-1, 3).astype(numpy.float64), None if colours is None else colours.reshape(-1, 3)


def _to_uint8(colours: Array) -> Array:
    """0 to 255; floats whose maximum is at most 1 are scaled by 255."""
    import numpy

    if colours.dtype.kind != "f":
        return colours.astype(numpy.uint8)
    finite = numpy.nan_to_num(colours.astype(numpy.float64))
    scaled: Array = (finite * (255 if finite.max(initial=0) <= 1 else 1)).clip(0, 255).astype(numpy.uint8)
    return scaled
