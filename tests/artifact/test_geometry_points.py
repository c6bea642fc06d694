from __future__ import annotations

import numpy
import pytest

from rocm3d.artifact.geometry import point_cloud_report


@pytest.mark.parametrize(
    ("points", "problem"),
    [
        (numpy.zeros((0, 3)), "empty: no points"),
        (numpy.full((4, 3), numpy.nan), "all 4 points hold NaN or infinity"),
        (numpy.array([[0, 0, 0], [1, 1, numpy.inf]]), "1 of 2 points hold NaN or infinity"),
        (numpy.ones((4, 3)), "collapsed: all points are in one place"),
    ],
)
def test_clouds_that_are_none(points, problem):
    assert point_cloud_report(points, has_colours=False).problems == [problem]


def test_a_cloud_is_counted():
    report = point_cloud_report(numpy.array([[0, 0, 0], [0, 3, 4]], dtype="f4"), has_colours=True)

    assert (report.kind, report.problems) == ("points", [])
    assert report.metrics == {"points": 2, "not_finite": 0, "coloured": 1, "extent": 5}
