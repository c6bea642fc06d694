"""Two Gaussians on the optical axis, and what each gives to each pixel.

The picture is so small that every tile of 8 or 16 pixels meets its centre: none is left out by the size of a Gaussian.
"""

from __future__ import annotations

from typing import Any

SIZE, FOCAL = 16, 16.0
# Far one first: sorting by depth is part of it.
DEPTHS, SCALE, OPACITIES = (4.0, 2.0), 0.5, (0.6, 0.8)
COLOURS = ((0.1, 0.8, 0.3), (0.9, 0.2, 0.4))


def scene(torch: Any, device: str) -> dict[str, Any]:
    """Centres, rotations, scales and opacities."""
    return {
        "means": torch.tensor([[0.0, 0.0, depth] for depth in DEPTHS], device=device),
        "quats": torch.tensor([[1.0, 0.0, 0.0, 0.0]] * 2, device=device),
        "scales": torch.full((2, 3), SCALE, device=device),
        "opacities": torch.tensor(OPACITIES, device=device),
    }


def weights(torch: Any) -> Any:
    """[2, height, width]: alpha times the light that comes through whatever is before it."""
    pixels = torch.arange(SIZE, dtype=torch.float64) + 0.5 - SIZE / 2
    squared = pixels[:, None] ** 2 + pixels[None, :] ** 2
    far, near = (
        # 0.3 square pixels are added to every projected Gaussian; what is fainter than 1/255 is left out.
        _kept(torch, opacity * torch.exp(-0.5 * squared / ((FOCAL * SCALE / depth) ** 2 + 0.3)))
        for depth, opacity in zip(DEPTHS, OPACITIES, strict=True)
    )
    return torch.stack([far * (1 - near), near])


def _kept(torch: Any, alpha: Any) -> Any:
    return torch.where(alpha < 1 / 255, torch.zeros_like(alpha), alpha)


def compare(bench: Any, picture: Any, gradient: Any) -> None:
    """A picture of [height, width, 3], and the gradient of its sum by the colours, which is the sum of the weights."""
    torch = bench.torch
    each = weights(torch)
    colours = torch.tensor(COLOURS, dtype=torch.float64)
    bench.agree("picture", picture, torch.einsum("nhw,nc->hwc", each, colours), "float32-splat-forward")
    sums = each.sum((1, 2))[:, None].expand(-1, 3)
    # For each pixel, as each may differ by the tolerance.
    bench.agree("colour gradient", gradient / SIZE**2, sums / SIZE**2, "float32-splat-forward")
