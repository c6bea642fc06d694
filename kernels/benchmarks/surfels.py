"""Times surfels against gsplat's rasterization_2dgs on the same scenes, 1920 by 1080, forward.

`python benchmarks/surfels.py [--output FILE]`. gsplat must be importable for its columns. First all images of a small
scene are compared with the reference in float64 and with those of gsplat; then both are timed.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import torch

from rocm3d_kernels import last_dispatch
from rocm3d_kernels.dropin.packages.gsplat.surfels import rasterization_2dgs
from side_by_side import WrongResultError, gpu, median_milliseconds, run

SIZES = (100_000, 1_000_000)
WIDTH, HEIGHT = 1920, 1080
SMALL = (4_000, 320, 200)
OUTPUTS = ("colors", "alphas", "normals", "normals_of_depths", "distortion", "median")
# A pixel may be off if a contribution is at the alpha threshold, or the transmittance at the median is near one half.
OFF, MAX_OFF_FRACTION = 1e-3, 1e-3


def original() -> Callable[..., Any] | None:
    """gsplat's function, or None if gsplat does not work."""
    try:
        from gsplat import rasterization_2dgs as theirs
        from gsplat.cuda._backend import _C
    except ImportError as error:
        sys.stderr.write(f"gsplat is not timed: {error}\n")
        return None
    if _C is None:
        sys.stderr.write("gsplat is not timed: its extension is missing\n")
        return None
    return theirs  # type: ignore[no-any-return]


def scene(count: int, width: int, height: int, device: torch.device) -> dict[str, Any]:
    """Small discs in a box in front of one camera, with all opacities."""
    random = torch.Generator().manual_seed(0)
    view = torch.eye(4)[None].clone()
    view[:, 2, 3] = 6.0
    tensors = {
        "means": (torch.rand(count, 3, generator=random) - 0.5) * torch.tensor([8.0, 5.0, 6.0]),
        "quats": torch.randn(count, 4, generator=random),
        "scales": torch.rand(count, 3, generator=random) * 0.02 * (1e6 / count) ** (1 / 3) + 0.001,
        "opacities": torch.rand(count, generator=random),
        # One set per camera: with depths gsplat supports no other layout.
        "colors": torch.rand(1, count, 3, generator=random),
        "viewmats": view,
        "Ks": torch.tensor([[[0.6 * width, 0, width / 2], [0, 0.6 * width, height / 2], [0, 0, 1]]]),
    }
    on_device = {name: one.to(device) for name, one in tensors.items()}
    return {**on_device, "width": width, "height": height, "render_mode": "RGB+ED"}


def off_fractions(result: tuple[Any, ...], expected: tuple[Any, ...], *, must_agree: bool) -> dict[str, float]:
    """The fraction of pixels of each image that are off."""
    fractions = {}
    for name, one, true in zip(OUTPUTS, result, expected, strict=False):
        scale = true.abs().max().clamp_min(1.0)
        off = ((one.double() - true.double()).abs() / scale).amax(dim=-1) > OFF
        fractions[name] = off.double().mean().item()
        # Normals from depth are differences of neighbours, so one pixel that is off affects four more.
        if must_agree and fractions[name] > MAX_OFF_FRACTION * (5 if name == "normals_of_depths" else 1):
            raise WrongResultError(f"{name}: {fractions[name]:.2e} of the pixels are off by more than {OFF}")
    return fractions


def check_errors(device: torch.device, theirs: Callable[..., Any] | None) -> dict[str, Any]:
    """Differences from float64, which must be within tolerance, and from gsplat, which are only reported."""
    arguments = scene(*SMALL, device)
    result = rasterization_2dgs(**arguments)
    dispatch = last_dispatch()
    if dispatch is None or dispatch.implementation != "triton":
        raise WrongResultError(f"ran on {dispatch}")
    # On the CPU, where float64 uses the reference.
    exact_arguments = {
        name: one.double().cpu() if isinstance(one, torch.Tensor) else one for name, one in arguments.items()
    }
    expected = rasterization_2dgs(**exact_arguments)
    pictures = tuple(one.cpu() for one in result[:6])
    errors: dict[str, Any] = {"off_from_float64": off_fractions(pictures, expected, must_agree=True)}
    if theirs is not None:
        others = theirs(**arguments)
        errors["off_from_gsplat"] = off_fractions(result, others, must_agree=False)
        errors["radii_that_differ"] = (result[6]["radii"] != others[6]["radii"]).any(dim=-1).double().mean().item()
    return errors


def row(count: int, device: torch.device, theirs: Callable[..., Any] | None) -> dict[str, Any]:
    """Times one scene."""
    arguments = scene(count, WIDTH, HEIGHT, device)
    functions: dict[str, Callable[[], Any]] = {"ours": lambda: rasterization_2dgs(**arguments)}
    if theirs is not None:
        functions["gsplat"] = lambda: theirs(**arguments)
    with torch.no_grad():
        return {"size": count, "forward_ms": median_milliseconds(functions)}


def rows(_: Namespace) -> list[dict[str, Any]]:
    """The differences, then rows for all sizes."""
    device, theirs = gpu(), original()
    return [check_errors(device, theirs), *(row(count, device, theirs) for count in SIZES)]


if __name__ == "__main__":
    sys.exit(run("surfels", __doc__, rows))
