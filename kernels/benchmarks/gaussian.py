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
from rocm3d_kernels.projection import Gaussians, CameraSettings
from side_by_side import Red, gpu, medians, run

WIDTH, HEIGHT = 1920, 1080
SIZES = (100_000, 1_000_000, 3_000_000)
# A few pixels may be slightly off, where a contribution is at the alpha threshold.
OFF, MOST_OFF, WORST = 1e-3, 1e-4, 0.05
GRADIENT = 1e-3
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
        which = torch.randint(0, 12, (count,), generator=random)
        ways = torch.nn.functional.normalize(torch.randn(count, 3, generator=random), dim=1)
        rough = 1 + 0.02 * torch.randn(count, 1, generator=random)
        means = centre[which] + ways * radius[which, None] * rough
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


def exact(given: Scene, weights: torch.Tensor | None) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Image and gradients of the reference in float64."""
    view, lens = camera(given[0].device)
    leaves = [one.double().requires_grad_(weights is not None) for one in given]
    means, quats, scales, opacities, colors = leaves
    everything = Gaussians(means, None, quats, scales, opacities, view.double(), lens.double())
    image = reference.render(everything, colors, None, RenderOptions(CameraSettings(WIDTH, HEIGHT)))[0]
    if weights is not None:
        (image * weights).sum().backward()
    return image.detach(), [one.grad for one in leaves if one.grad is not None]


def once(draw: Callable[..., Any], given: Scene, weights: torch.Tensor | None) -> tuple[torch.Tensor, list[Any]]:
    """One image and, with weights of the pixels, its gradients."""
    view, lens = camera(given[0].device)
    if weights is None:
        with torch.no_grad():
            return draw(*given, view, lens, WIDTH, HEIGHT, packed=False)[0], []
    leaves = [one.detach().requires_grad_() for one in given]
    image = draw(*leaves, view, lens, WIDTH, HEIGHT, packed=False)[0]
    image.backward(weights)
    return image, [one.grad for one in leaves]


def right(name: str, given: Scene, weights: torch.Tensor) -> dict[str, float]:
    """Differences from float64; raises beyond the limits. Gradients only for the smallest scenes, to save memory."""
    small = len(given[0]) <= SIZES[0]
    image, gradients = exact(given, weights if small else None)
    once(rasterization, given, weights)
    # The second call may reuse tile lists of the first, as in the timings.
    found, ours = once(rasterization, given, weights)
    taken = last_dispatch()
    if taken is None or taken.implementation != "triton":
        raise Red(f"ran on {taken}")
    off = (found - image).abs().amax(dim=-1)
    errors = {"worst": float(off.max()), "part_off": float((off > OFF).double().mean())}
    if errors["worst"] > WORST or errors["part_off"] > MOST_OFF:
        raise Red(f"{name}: {errors}")
    for which, a, b in zip(("means", "quats", "scales", "opacities", "colors"), ours, gradients, strict=False):
        errors[f"gradient_{which}"] = float((a - b).norm() / b.norm())
        if errors[f"gradient_{which}"] > GRADIENT:
            raise Red(f"{name}: {errors}")
    return errors


def peak(call: Callable[[], Any]) -> float:
    """Peak MiB that a call allocates in addition to current memory."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    kept = call()
    torch.cuda.synchronize()
    del kept
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def row(kind: str, count: int, theirs: Callable[..., Any] | None) -> dict[str, Any]:
    """Checks the results, then times them."""
    device = gpu()
    given = scene(kind, count, device)
    weights = torch.randn(1, HEIGHT, WIDTH, 3, device=device, generator=torch.Generator(device).manual_seed(1))
    errors = right(f"{kind} {count}", given, weights)
    ways = {"ours": rasterization} | ({} if theirs is None else {"gsplat": theirs})
    forward = {name: lambda d=draw: once(d, given, None) for name, draw in ways.items()}
    both = {name: lambda d=draw: once(d, given, weights) for name, draw in ways.items()}
    found = {"scene": kind, "gaussians": count, "errors": errors}
    found |= {"forward_ms": medians(forward), "forward_backward_ms": medians(both)}
    found["peak_mib"] = {name: peak(call) for name, call in both.items()}
    if theirs is not None:
        for key in ("forward_ms", "forward_backward_ms", "peak_mib"):
            found[f"{key}_ratio"] = found[key]["ours"] / found[key]["gsplat"]
    return found


def rows(options: Namespace) -> list[dict[str, Any]]:
    """Rows for all scenes and sizes."""
    gpu()
    theirs, sizes = original(), SIZES[:2] if options.quick else SIZES
    return [row(kind, count, theirs) for kind in ("synthetic", "trained") for count in sizes]


if __name__ == "__main__":
    sys.exit(run("gaussian", __doc__, rows, "--quick"))
