"""The report of a point cloud, for every file format that holds one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.artifact.artifact_report import ArtifactReport, count_nonfinite_rows, extent
from rocm3d.artifact.scatter import draw_points

if TYPE_CHECKING:
    from rocm3d.artifact.artifact_report import Array


def point_cloud_report(points: Array, *, has_colours: bool, colours: Array | None = None) -> ArtifactReport:
    """For points (n, 3). `colours` are uint8 (n, 3) and used only for the picture."""
    report, nonfinite, size = ArtifactReport("points"), count_nonfinite_rows(points), extent(points)
    report.metrics |= {"points": len(points), "not_finite": nonfinite, "coloured": int(has_colours), "extent": size}
    if not len(points):
        report.problems.append("empty: no points")
        return report
    report.picture = draw_points(points, colours)
    report.add_problem_if(nonfinite == len(points), f"all {len(points)} points hold NaN or infinity")
    report.add_problem_if(0 < nonfinite < len(points), f"{nonfinite} of {len(points)} points hold NaN or infinity")
    report.add_problem_if(nonfinite == 0 and len(points) > 1 and size == 0, "collapsed: all points are in one place")
    return report
