"""A triangle, and the pixels whose centres lie inside: none so near an edge that rounding decides."""

from __future__ import annotations

from typing import Any

# Whole sixteenths of a pixel in pictures of 32 and 64: rasterizers that round positions to those change nothing.
CORNERS = ((-0.8125, -0.6328125), (0.64453125, -0.359375), (0.0859375, 0.765625))


def centres(torch: Any, size: int) -> Any:
    """Of the pixels along one axis, from -1 to 1."""
    return (2 * torch.arange(size, dtype=torch.float64) + 1) / size - 1


def inside(torch: Any, size: int) -> Any:
    """[y, x], upwards and to the right."""
    x, y = centres(torch, size)[None, :], centres(torch, size)[:, None]
    edges = zip(CORNERS, (*CORNERS[1:], CORNERS[0]), strict=True)
    sides = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0 for (ax, ay), (bx, by) in edges]
    return sides[0] & sides[1] & sides[2]
