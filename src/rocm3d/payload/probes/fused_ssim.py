"""fused-ssim: mean structural similarity and its gradient, against convolutions in float64."""

from __future__ import annotations

from typing import Any

NATIVE = ("fused_ssim_cuda",)


def check(session: Any) -> None:
    """Compares two similar images."""
    from fused_ssim import fused_ssim

    torch = session.torch
    first = session.random_normal(1, 3, 40, 56, seed=1).sigmoid().requires_grad_()
    second = (first.detach() + 0.1 * session.random_normal(1, 3, 40, 56, seed=2)).clamp(0, 1)
    value = session.run(lambda: fused_ssim(first, second))
    gradient = session.run(lambda: torch.autograd.grad(fused_ssim(first, second), first)[0])
    exact = first.detach().double().cpu().requires_grad_()
    expected = similarity(torch, exact, second.double().cpu())
    session.check_close("mean", value, expected, "float32-ssim")
    # Scaled to the sum over pixels: the gradient of the mean is too small for an absolute tolerance.
    scale = first.numel()
    session.check_close("gradient", gradient * scale, torch.autograd.grad(expected, exact)[0] * scale, "float32-ssim")


def similarity(torch: Any, first: Any, second: Any) -> Any:
    """Wang et al. 2004: 11x11 Gaussian window with sigma 1.5, constants 0.01 and 0.03, zero padding."""
    line = torch.exp(-((torch.arange(11, dtype=torch.float64) - 5) ** 2) / (2 * 1.5**2))
    window = (line[:, None] * line[None, :] / line.sum() ** 2).expand(3, 1, 11, 11)

    def blurred(picture: Any) -> Any:
        return torch.nn.functional.conv2d(picture, window, padding=5, groups=3)

    a, b = blurred(first), blurred(second)
    va, vb, ab = blurred(first**2) - a**2, blurred(second**2) - b**2, blurred(first * second) - a * b
    return ((2 * a * b + 1e-4) * (2 * ab + 9e-4) / ((a**2 + b**2 + 1e-4) * (va + vb + 9e-4))).mean()
