"""Times ssim against plain PyTorch and fused-ssim, forward and forward with backward, on the same images.

`python benchmarks/ssim.py [--output FILE] [--sweep]`. fused-ssim must be importable for its column; --sweep times
launch parameters instead, for the tuning table.
"""

from __future__ import annotations

import itertools
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import torch

from rocm3d_kernels import last_dispatch, tuning
from rocm3d_kernels.ssim import reference, ssim
from side_by_side import SWEEP_SECONDS, WrongResultError, check_close, gpu, median_milliseconds, run, within_seconds

SHAPES = ((1, 3, 1080, 1920), (1, 3, 540, 960), (4, 3, 512, 512), (1, 3, 2160, 3840))
TOLERANCE = {"rtol": 1e-4, "atol": 1e-4}  # float32-ssim of knowledge/tolerances.toml
Similarity = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def original() -> Similarity | None:
    """fused-ssim's function, or None if it is not installed."""
    try:
        from fused_ssim import fused_ssim
    except ImportError as error:
        sys.stderr.write(f"fused-ssim is not timed: {error}\n")
        return None
    return fused_ssim  # type: ignore[no-any-return]


def images(shape: tuple[int, ...], device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Two similar images."""
    torch.manual_seed(1)
    target = torch.nn.functional.interpolate(torch.rand(*shape[:2], 64, 64, device=device), shape[2:], mode="bicubic")
    image = (target + 0.1 * torch.randn(shape, device=device)).clamp(0, 1)
    return image.requires_grad_(), target.clamp(0, 1)


def value_and_gradient(
    function: Similarity, image: torch.Tensor, target: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The value and the gradient."""
    value = function(image, target)
    return value, torch.autograd.grad(value, image)[0]


def row(shape: tuple[int, ...], device: torch.device, fused: Similarity | None) -> dict[str, Any]:
    """Checks the results, then times them."""
    image, target = images(shape, device)
    exact = value_and_gradient(reference.ssim, image.detach().double().requires_grad_(), target.double())
    result = value_and_gradient(ssim, image, target)
    dispatch = last_dispatch()
    if dispatch is None or dispatch.implementation != "triton":
        raise WrongResultError(f"ran on {dispatch}")
    # The gradient of a mean is small, so it is compared relative to its largest value.
    largest = exact[1].abs().max()
    errors = {
        "value": check_close("value", result[0], exact[0], **TOLERANCE),
        "gradient": check_close("gradient", result[1] / largest, exact[1] / largest, **TOLERANCE),
    }
    functions: dict[str, Similarity] = {"ours": ssim, "pytorch": reference.ssim}
    if fused is not None:
        functions["fused_ssim"] = fused
        errors["fused_ssim_value"] = float((fused(image, target).detach().double() - exact[0].detach()).abs())
    forward = median_milliseconds({name: lambda f=f: f(image, target) for name, f in functions.items()})
    training = median_milliseconds(
        {name: lambda f=f: value_and_gradient(f, image, target) for name, f in functions.items()}
    )
    return {"shape": shape, "errors": errors, "forward_ms": forward, "forward_backward_ms": training}


def sweep(device: torch.device) -> list[dict[str, Any]]:
    """Times of launch parameters, the best first."""
    image, target = images(SHAPES[0], device)
    results = []
    shapes = ((64, 2), (128, 4), (128, 2), (256, 4), (256, 8))
    for unroll, segment, (block, warps) in within_seconds(
        SWEEP_SECONDS, itertools.product((1, 2), (60, 30, 120), shapes)
    ):
        parameters = {"SEGMENT": segment, "BLOCK": block, "UNROLL": unroll, "num_warps": warps}
        tuning.override_parameters("ssim", dict.fromkeys(("ssim_forward_kernel", "ssim_gradient_kernel"), parameters))
        with torch.no_grad():
            forward = median_milliseconds({"x": lambda: ssim(image, target)}, 10)["x"]
        training = median_milliseconds({"x": lambda: value_and_gradient(ssim, image, target)}, 10)["x"]
        results.append({**parameters, "forward_ms": forward, "forward_backward_ms": training})
    return sorted(results, key=lambda item: item["forward_backward_ms"])


def rows(options: Namespace) -> list[dict[str, Any]]:
    """Rows for all shapes, or with --sweep for launch parameters."""
    device = gpu()
    return sweep(device) if options.sweep else [row(shape, device, original()) for shape in SHAPES]


if __name__ == "__main__":
    sys.exit(run("ssim", __doc__, rows, "--sweep"))
