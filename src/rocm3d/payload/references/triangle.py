"""A triangle and the pixels that it covers; no pixel centre is so near an edge that rounding matters."""

from __future__ import annotations

from typing import Any

# Multiples of 1/16 pixel for images of 32 and 64 pixels: rasterizers round positions to 1/16.
CORNERS = ((-0.8125, -0.6328125), (0.64453125, -0.359375), (0.0859375, 0.765625))


def centres(torch: Any, size: int) -> Any:
    """Pixel centres along one axis, in -1 to 1."""
    return (2 * torch.arange(size, dtype=torch.float64) + 1) / size - 1


def inside(torch: Any, size: int) -> Any:
    """Coverage mask [y, x]; y points up, x to the right."""
    x, y = centres(torch, size)[None, :], centres(torch, size)[:, None]
    edges = zip(CORNERS, (*CORNERS[1:], CORNERS[0]), strict=True)
    sides = [(bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0 for (ax, ay), (bx, by) in edges]
    return sides[0] & sides[1] & sides[2]
