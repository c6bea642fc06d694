"""The report of a point cloud, for every file format that holds one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.artifact.scatter import scatter
from rocm3d.artifact.sight import Sight, broken_rows, extent

if TYPE_CHECKING:
    from rocm3d.artifact.sight import Array


def cloud(points: Array, *, coloured: bool, colours: Array | None = None) -> Sight:
    """For points (n, 3). `colours` are uint8 (n, 3) and used only for the picture."""
    sight, broken, size = Sight("points"), broken_rows(points), extent(points)
    sight.metrics |= {"points": len(points), "not_finite": broken, "coloured": int(coloured), "extent": size}
    if not len(points):
        sight.problems.append("empty: no points")
        return sight
    sight.picture = scatter(points, colours)
    sight.object_to(broken == len(points), f"all {len(points)} points hold NaN or infinity")
    sight.object_to(0 < broken < len(points), f"{broken} of {len(points)} points hold NaN or infinity")
    sight.object_to(broken == 0 and len(points) > 1 and size == 0, "collapsed: all points are in one place")
    return sight
