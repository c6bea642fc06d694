"""fused-ssim: the mean structural similarity and its gradient, against convolutions in float64."""

from __future__ import annotations

from typing import Any

NATIVE = ("fused_ssim_cuda",)


def look(bench: Any) -> None:
    """Two pictures that are alike but not equal."""
    from fused_ssim import fused_ssim

    torch = bench.torch
    first = bench.random(1, 3, 40, 56, seed=1).sigmoid().requires_grad_()
    second = (first.detach() + 0.1 * bench.random(1, 3, 40, 56, seed=2)).clamp(0, 1)
    value = bench.run(lambda: fused_ssim(first, second))
    gradient = bench.run(lambda: torch.autograd.grad(fused_ssim(first, second), first)[0])
    exact = first.detach().double().cpu().requires_grad_()
    wanted = similarity(torch, exact, second.double().cpu())
    bench.agree("mean", value, wanted, "float32-ssim")
    # Of the sum over pixels, as the mean's own is too small for an absolute tolerance.
    scale = first.numel()
    bench.agree("gradient", gradient * scale, torch.autograd.grad(wanted, exact)[0] * scale, "float32-ssim")


def similarity(torch: Any, first: Any, second: Any) -> Any:
    """Wang et al. 2004: an 11 by 11 window of deviation 1.5, constants 0.01 and 0.03, zeros around the picture."""
    line = torch.exp(-((torch.arange(11, dtype=torch.float64) - 5) ** 2) / (2 * 1.5**2))
    window = (line[:, None] * line[None, :] / line.sum() ** 2).expand(3, 1, 11, 11)

    def blurred(picture: Any) -> Any:
        return torch.nn.functional.conv2d(picture, window, padding=5, groups=3)

    a, b = blurred(first), blurred(second)
    va, vb, ab = blurred(first**2) - a**2, blurred(second**2) - b**2, blurred(first * second) - a * b
    return ((2 * a * b + 1e-4) * (2 * ab + 9e-4) / ((a**2 + b**2 + 1e-4) * (va + vb + 9e-4))).mean()
