"""Times rendering of Gaussians against gsplat on the same scenes, 1920 by 1080.

`python benchmarks/gaussian.py [--output FILE] [--quick]`. gsplat must be importable for its columns. First the image
and the gradients are compared with the reference in float64, then whole calls of `rasterization` are timed: forward,
and forward with backward. gsplat runs unpacked, its faster mode. --quick skips the largest scenes.
"""

from __future__ import annotations

import functools
import math
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import torch

from rocm3d_kernels import last_dispatch
from rocm3d_kernels.gaussian import rasterization, reference
from rocm3d_kernels.gaussian.options import RenderOptions
from rocm3d_kernels.projection import CameraSettings, Gaussians
from side_by_side import WrongResultError, gpu, median_milliseconds, run

WIDTH, HEIGHT = 1920, 1080
SIZES = (100_000, 1_000_000, 3_000_000)
# A few pixels may be slightly off, where a contribution is at the alpha threshold.
OFF, MAX_OFF_FRACTION, MAX_ERROR = 1e-3, 1e-4, 0.05
MAX_GRADIENT_ERROR = 1e-3
Scene = list[torch.Tensor]


def original() -> Callable[..., Any] | None:
    """gsplat's function, or None if gsplat does not work."""
    try:
        from gsplat import rasterization as theirs
        from gsplat.cuda._backend import _C
    except ImportError as error:
        sys.stderr.write(f"gsplat is not timed: {error}\n")
        return None
    if _C is None:
        sys.stderr.write("gsplat is not timed: its extension is missing\n")
        return None
    return theirs  # type: ignore[no-any-return]


def scene(kind: str, count: int, device: torch.device) -> Scene:
    """Means, quaternions, scales, opacities, colours.

    `synthetic` fills a box with small round Gaussians. `trained` resembles a trained scene: surfaces, a far background,
    sizes over two orders of magnitude, flat ellipsoids, mostly very low and very high opacities.
    """
    random = torch.Generator().manual_seed(0)
    small = (1e6 / count) ** (1 / 3)
    if kind == "synthetic":
        means = (torch.rand(count, 3, generator=random) - 0.5) * torch.tensor([8.0, 5.0, 6.0])
        scales = torch.rand(count, 3, generator=random) * 0.01 * small + 0.001
        opacities = torch.rand(count, generator=random)
    else:
        centre = (torch.rand(12, 3, generator=random) - 0.5) * torch.tensor([7.0, 4.0, 5.0])
        radius = torch.rand(12, generator=random) * 1.2 + 0.2
        cluster = torch.randint(0, 12, (count,), generator=random)
        directions = torch.nn.functional.normalize(torch.randn(count, 3, generator=random), dim=1)
        roughness = 1 + 0.02 * torch.randn(count, 1, generator=random)
        means = centre[cluster] + directions * radius[cluster, None] * roughness
        far = torch.rand(count, generator=random) < 0.1
        means[far] = (torch.rand(int(far.sum()), 3, generator=random) - 0.5) * torch.tensor([30.0, 20.0, 30.0])
        base = torch.exp(torch.randn(count, 1, generator=random) * 0.9 + math.log(0.012 * small))
        scales = base * torch.exp(torch.randn(count, 3, generator=random) * 0.7)
        scales[:, 2] *= 0.2
        opacities = torch.sigmoid(torch.randn(count, generator=random) * 2.5 - 0.3)
    quats, colors = torch.randn(count, 4, generator=random), torch.rand(count, 3, generator=random)
    return [one.to(device) for one in (means, quats, scales, opacities, colors)]


@functools.cache
def camera(device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """One view matrix in front of the scene, and its intrinsics; cached, so that timings do not include it."""
    view = torch.eye(4, device=device)[None].clone()
    view[:, 2, 3] = 6.0
    lens = torch.tensor([[1200.0, 0, WIDTH / 2], [0, 1200.0, HEIGHT / 2], [0, 0, 1]], device=device)
    return view, lens[None]


def exact(tensors: Scene, weights: torch.Tensor | None) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Image and gradients of the reference in float64."""
    view, lens = camera(tensors[0].device)
    leaves = [one.double().requires_grad_(weights is not None) for one in tensors]
    means, quats, scales, opacities, colors = leaves
    everything = Gaussians(means, None, quats, scales, opacities, view.double(), lens.double())
    image = reference.render(everything, colors, None, RenderOptions(CameraSettings(WIDTH, HEIGHT)))[0]
    if weights is not None:
        (image * weights).sum().backward()
    return image.detach(), [one.grad for one in leaves if one.grad is not None]


def render_once(
    draw: Callable[..., Any], tensors: Scene, weights: torch.Tensor | None
) -> tuple[torch.Tensor, list[Any]]:
    """One image and, with weights of the pixels, its gradients."""
    view, lens = camera(tensors[0].device)
    if weights is None:
        with torch.no_grad():
            return draw(*tensors, view, lens, WIDTH, HEIGHT, packed=False)[0], []
    leaves = [one.detach().requires_grad_() for one in tensors]
    image = draw(*leaves, view, lens, WIDTH, HEIGHT, packed=False)[0]
    image.backward(weights)
    return image, [one.grad for one in leaves]


def check_errors(name: str, tensors: Scene, weights: torch.Tensor) -> dict[str, float]:
    """Differences from float64; raises beyond the limits. Gradients only for the smallest scenes, to save memory."""
    small = len(tensors[0]) <= SIZES[0]
    image, gradients = exact(tensors, weights if small else None)
    render_once(rasterization, tensors, weights)
    # The second call may reuse tile lists of the first, as in the timings.
    result, our_gradients = render_once(rasterization, tensors, weights)
    dispatch = last_dispatch()
    if dispatch is None or dispatch.implementation != "triton":
        raise WrongResultError(f"ran on {dispatch}")
    off = (result - image).abs().amax(dim=-1)
    errors = {"worst": float(off.max()), "part_off": float((off > OFF).double().mean())}
    if errors["worst"] > MAX_ERROR or errors["part_off"] > MAX_OFF_FRACTION:
        raise WrongResultError(f"{name}: {errors}")
    for parameter, a, b in zip(
        ("means", "quats", "scales", "opacities", "colors"), our_gradients, gradients, strict=False
    ):
        errors[f"gradient_{parameter}"] = float((a - b).norm() / b.norm())
        if errors[f"gradient_{parameter}"] > MAX_GRADIENT_ERROR:
            raise WrongResultError(f"{name}: {errors}")
    return errors


def peak(call: Callable[[], Any]) -> float:
    """Peak MiB that a call allocates in addition to current memory."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = call()
    torch.cuda.synchronize()
    del result
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def row(kind: str, count: int, theirs: Callable[..., Any] | None) -> dict[str, Any]:
    """Checks the results, then times them."""
    device = gpu()
    tensors = scene(kind, count, device)
    weights = torch.randn(1, HEIGHT, WIDTH, 3, device=device, generator=torch.Generator(device).manual_seed(1))
    errors = check_errors(f"{kind} {count}", tensors, weights)
    functions = {"ours": rasterization} | ({} if theirs is None else {"gsplat": theirs})
    forward = {name: lambda d=draw: render_once(d, tensors, None) for name, draw in functions.items()}
    both = {name: lambda d=draw: render_once(d, tensors, weights) for name, draw in functions.items()}
    result = {"scene": kind, "gaussians": count, "errors": errors}
    result |= {"forward_ms": median_milliseconds(forward), "forward_backward_ms": median_milliseconds(both)}
    result["peak_mib"] = {name: peak(call) for name, call in both.items()}
    if theirs is not None:
        for key in ("forward_ms", "forward_backward_ms", "peak_mib"):
            result[f"{key}_ratio"] = result[key]["ours"] / result[key]["gsplat"]
    return result


def rows(options: Namespace) -> list[dict[str, Any]]:
    """Rows for all scenes and sizes."""
    gpu()
    theirs, sizes = original(), SIZES[:2] if options.quick else SIZES
    return [row(kind, count, theirs) for kind in ("synthetic", "trained") for count in sizes]


if __name__ == "__main__":
    sys.exit(run("gaussian", __doc__, rows, "--quick"))
