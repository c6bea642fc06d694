"""Two Gaussians on the optical axis, and their contribution to each pixel.

The image is so small that every tile of 8 or 16 pixels touches its centre, so no tile is culled by Gaussian radius.
"""

from __future__ import annotations

from typing import Any

SIZE, FOCAL = 16, 16.0
# The far Gaussian comes first, so that sorting by depth is tested.
DEPTHS, SCALE, OPACITIES = (4.0, 2.0), 0.5, (0.6, 0.8)
COLOURS = ((0.1, 0.8, 0.3), (0.9, 0.2, 0.4))


def scene(torch: Any, device: str) -> dict[str, Any]:
    """Parameters of the two Gaussians, with gsplat's names."""
    return {
        "means": torch.tensor([[0.0, 0.0, depth] for depth in DEPTHS], device=device),
        "quats": torch.tensor([[1.0, 0.0, 0.0, 0.0]] * 2, device=device),
        "scales": torch.full((2, 3), SCALE, device=device),
        "opacities": torch.tensor(OPACITIES, device=device),
    }


def weights(torch: Any) -> Any:
    """[2, height, width]: alpha times transmittance of each Gaussian."""
    pixels = torch.arange(SIZE, dtype=torch.float64) + 0.5 - SIZE / 2
    squared = pixels[:, None] ** 2 + pixels[None, :] ** 2
    far, near = (
        # Rasterizers add 0.3 square pixels to the projected covariance and skip alpha below 1/255.
        _threshold(torch, opacity * torch.exp(-0.5 * squared / ((FOCAL * SCALE / depth) ** 2 + 0.3)))
        for depth, opacity in zip(DEPTHS, OPACITIES, strict=True)
    )
    return torch.stack([far * (1 - near), near])


def _threshold(torch: Any, alpha: Any) -> Any:
    return torch.where(alpha < 1 / 255, torch.zeros_like(alpha), alpha)


def compare(session: Any, picture: Any, gradient: Any) -> None:
    """Check an image [height, width, 3] and the gradient of its sum with respect to the colours (sum of weights)."""
    torch = session.torch
    each = weights(torch)
    colours = torch.tensor(COLOURS, dtype=torch.float64)
    session.check_close("picture", picture, torch.einsum("nhw,nc->hwc", each, colours), "float32-splat-forward")
    sums = each.sum((1, 2))[:, None].expand(-1, 3)
    # Divided by the number of pixels: the tolerance is per pixel.
    session.check_close("colour gradient", gradient / SIZE**2, sums / SIZE**2, "float32-splat-forward")
