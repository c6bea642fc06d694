from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "src" / "rocm3d" / "payload" / "references" / "triangle.py"
spec = importlib.util.spec_from_file_location("triangle", SCRIPT)
triangle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(triangle)


@pytest.mark.parametrize("size", [32, 64])
def test_rounding_decides_no_pixel(size):
    """Corners are multiples of 1/16 pixel, and no pixel centre is near an edge."""
    corners = [((x + 1) * size / 2, (y + 1) * size / 2) for x, y in triangle.CORNERS]
    assert all((part * 16).is_integer() for corner in corners for part in corner)
    centres = [n + 0.5 for n in range(size)]
    for (ax, ay), (bx, by) in zip(corners, (*corners[1:], corners[0]), strict=True):
        length = ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5
        along = (
            abs((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / length
            for x in centres
            for y in centres
            if min(ax, bx) - 1 <= x <= max(ax, bx) + 1 and min(ay, by) - 1 <= y <= max(ay, by) + 1
        )

        assert min(along) > 0.01
