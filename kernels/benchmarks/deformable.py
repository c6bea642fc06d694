"""Times deformable attention against the grid_sample formulation and the CUDA original, on the same inputs.

`python benchmarks/deformable.py [--output FILE] [--sweep]`. Deformable-DETR's MultiScaleDeformableAttention must be
importable for its column; --sweep times launch parameters instead, for the tuning table.
"""

from __future__ import annotations

import itertools
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from rocm3d_kernels import last_dispatch, tuning
from rocm3d_kernels.deformable import deformable_attention, gradients, reference
from side_by_side import SWEEP_SECONDS, WrongResultError, check_close, gpu, median_milliseconds, run, within_seconds

# Feature maps of images of 800 by 1333 and 640 by 853 pixels, at strides 8, 16, 32 and 64.
LARGE = ((100, 167), (50, 84), (25, 42), (13, 21))
SMALL = ((80, 107), (40, 54), (20, 27), (10, 14))
HEADS, CHANNELS, POINTS = 8, 32, 4
SPREAD = 4.0  # pixels: standard deviation of a sample from its query
FORWARD = {"rtol": 0.0, "atol": 5e-6}
GRADIENT = {"rtol": 1e-3, "atol": 1e-4}  # float32-deformable-attention-gradient of knowledge/tolerances.toml
KINK = 1e-4  # pixels
Tensors = tuple[torch.Tensor, ...]
Attention = Callable[..., torch.Tensor]


class DetectorScene(NamedTuple):
    """`queries` is 0 for an encoder, where each pixel is a query; else that of a decoder, with boxes anywhere."""

    name: str
    batch: int
    levels: tuple[tuple[int, int], ...]
    queries: int = 0
    anywhere: bool = False


SCENES = (
    DetectorScene("encoder, 22223 queries", 1, LARGE),
    DetectorScene("encoder, 2 x 22223 queries", 2, LARGE),
    DetectorScene("encoder, 2 x 11400 queries", 2, SMALL),
    DetectorScene("encoder, 22223 queries, samples anywhere", 1, LARGE, anywhere=True),
    DetectorScene("decoder, 900 queries", 1, LARGE, 900),
    DetectorScene("decoder, 2 x 300 queries", 2, LARGE, 300),
)


def inputs(scene: DetectorScene, device: torch.device, dtype: torch.dtype = torch.float32) -> Tensors:
    """Values, shapes, starts, locations, weights."""
    torch.manual_seed(1)
    shapes = torch.tensor(scene.levels, device=device)
    starts = torch.cat((shapes.new_zeros(1), shapes.prod(1).cumsum(0)[:-1]))
    pixels = int(shapes.prod(1).sum())
    value = torch.randn(scene.batch, pixels, HEADS, CHANNELS, device=device)
    queries = scene.queries or pixels
    full = (scene.batch, queries, HEADS, len(scene.levels), POINTS)
    if scene.anywhere:
        locations = torch.rand(*full, 2, device=device)
    elif scene.queries:
        centre, size = torch.rand(2, scene.batch, queries, 1, 1, 1, 2, device=device)
        locations = centre + (torch.rand(*full, 2, device=device) - 0.5) * size * 0.5
    else:
        locations = _centres(scene.levels, device)[None, :, None, None, None] + (
            torch.randn(*full, 2, device=device) * SPREAD / shapes.flip(1)[:, None]
        )
    weights = torch.randn(*full[:3], full[3] * full[4], device=device).softmax(-1).view(full)
    return value.to(dtype), shapes, starts, locations.to(dtype).contiguous(), weights.to(dtype)


def _centres(levels: tuple[tuple[int, int], ...], device: torch.device) -> torch.Tensor:
    centres = []
    for height, width in levels:
        y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        centres.append(torch.stack(((x + 0.5) / width, (y + 0.5) / height), dim=-1).view(-1, 2))
    return torch.cat(centres).to(device)


def by_grid_sample(
    value: torch.Tensor, shapes: torch.Tensor, _: torch.Tensor, locations: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    """The formulation of repositories without the extension: grid_sample per level, all samples stored, then summed."""
    batch, _, heads, channels = value.shape
    queries, levels, points = locations.shape[1], locations.shape[3], locations.shape[4]
    sizes = shapes.tolist()
    parts = []
    for level, picture in enumerate(value.split([height * width for height, width in sizes], dim=1)):
        plane = picture.permute(0, 2, 3, 1).reshape(batch * heads, channels, *sizes[level])
        grid = (2 * locations[:, :, :, level] - 1).transpose(1, 2).reshape(batch * heads, queries, points, 2)
        parts.append(torch.nn.functional.grid_sample(plane, grid, align_corners=False))
    every = torch.stack(parts, dim=-2).flatten(-2)
    scale = weights.transpose(1, 2).reshape(batch * heads, 1, queries, levels * points)
    return (every * scale).sum(-1).view(batch, heads * channels, queries).transpose(1, 2).contiguous()


def original() -> Attention | None:
    """Deformable-DETR's functions, or None if they are not installed."""
    try:
        import MultiScaleDeformableAttention as native  # noqa: N813
    except ImportError as error:
        sys.stderr.write(f"the CUDA original is not timed: {error}\n")
        return None

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *tensors: torch.Tensor) -> Any:
            ctx.save_for_backward(*tensors)
            return native.ms_deform_attn_forward(*tensors, 64)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, grad_output: torch.Tensor) -> Any:
            gradients = native.ms_deform_attn_backward(*ctx.saved_tensors, grad_output, 64)
            return gradients[0], None, None, gradients[1], gradients[2]

    return Function.apply  # type: ignore[no-any-return]


def output_and_gradients(function: Attention, arguments: Tensors, grad_output: torch.Tensor) -> Tensors:
    """The result and the gradients of values, locations and weights."""
    leaves = [
        arguments[0].detach().requires_grad_(),
        *arguments[1:3],
        *(one.detach().requires_grad_() for one in arguments[3:]),
    ]
    result = function(*leaves)
    return result, *torch.autograd.grad(result, (leaves[0], leaves[3], leaves[4]), grad_output)


def row(scene: DetectorScene, device: torch.device, native: Attention | None, dtype: torch.dtype) -> dict[str, Any]:
    """Checks the results, then times them."""
    arguments = inputs(scene, device, dtype)
    grad_output = torch.randn_like(deformable_attention(*arguments))
    dispatch = last_dispatch()
    if dispatch is None or dispatch.implementation != "triton":
        raise WrongResultError(f"ran on {dispatch}")
    errors = largest_errors(arguments, grad_output, native) if dtype == torch.float32 else {}
    functions: dict[str, Attention] = {"ours": deformable_attention}
    if native is not None and dtype == torch.float32:
        functions["original"] = native
    with torch.no_grad():
        forward = timed(
            {name: lambda f=f: f(*arguments) for name, f in functions.items()}, lambda: by_grid_sample(*arguments)
        )
    training = timed(
        {name: lambda f=f: output_and_gradients(f, arguments, grad_output) for name, f in functions.items()},
        lambda: output_and_gradients(by_grid_sample, arguments, grad_output),
    )
    labels = {"scene": scene.name, "dtype": str(dtype).removeprefix("torch."), "errors": errors}
    return {**labels, "forward_ms": forward, "forward_backward_ms": training}


def timed(functions: dict[str, Callable[[], Any]], grid_sample: Callable[[], Any]) -> dict[str, float]:
    """Medians; grid_sample is timed separately, since it synchronizes and slows the launch of the next function."""
    return {**median_milliseconds(functions), **median_milliseconds({"grid_sample": grid_sample}, 10)}


def largest_errors(arguments: Tensors, grad_output: torch.Tensor, native: Attention | None) -> dict[str, Any]:
    """Largest differences from the reference in float64.

    Location gradients are in pixels, and excluded next to pixel centres, where they jump.
    """
    exact = tuple(one.double() if one.is_floating_point() else one for one in arguments)
    expected = output_and_gradients(reference.forward, exact, grad_output.double())
    results = output_and_gradients(deformable_attention, arguments, grad_output)
    size = arguments[1].flip(1).double()[:, None]
    phase = (exact[3] * size - 0.5) % 1
    smooth = (phase > KINK) & (phase < 1 - KINK)
    smooth = smooth.all(dim=-1, keepdim=True)
    names = ("result", "values", "locations", "weights")
    errors: dict[str, Any] = {}
    for name, result, exact_result in zip(names, results, expected, strict=True):
        scale = smooth / size if name == "locations" else 1.0
        errors[name] = check_close(
            name, result.double() * scale, exact_result * scale, **(FORWARD if name == "result" else GRADIENT)
        )
    if native is not None:
        theirs = output_and_gradients(native, arguments, grad_output)
        errors["original"] = [
            float((a.detach().double() - b.detach()).abs().max()) for a, b in zip(theirs, expected, strict=True)
        ]
    errors["grid_sample"] = float((by_grid_sample(*arguments).double() - expected[0].detach()).abs().max())
    return errors


def sweep(device: torch.device) -> list[dict[str, Any]]:
    """Times of launch parameters, the best first."""
    encoder = inputs(SCENES[0], device)
    decoder = inputs(SCENES[4], device)
    grad_output = torch.randn_like(deformable_attention(*encoder))
    results = []
    tiles = ((512, 1), (512, 2), (1024, 2), (1024, 4), (2048, 4), (256, 1), (1024, 1), (2048, 8))
    for unroll, masked, (tile, warps) in within_seconds(
        SWEEP_SECONDS, itertools.product((1, 2, 4), (True, False), tiles)
    ):
        parameters = {"TILE": tile, "UNROLL": unroll, "MASKED": masked, "num_warps": warps}
        tuning.override_parameters("deformable", {"deformable_forward": parameters, "deformable_backward": parameters})
        calls: dict[str, Callable[[], Any]] = {
            "forward": lambda: deformable_attention(*encoder),
            "decoder": lambda: deformable_attention(*decoder),
            "gradients": lambda: gradients(*encoder, grad_output),
        }
        with torch.no_grad():
            results.append({**parameters, "ms": median_milliseconds(calls, 8)})
    return sorted(results, key=lambda item: item["ms"]["forward"])


def rows(options: Namespace) -> list[dict[str, Any]]:
    """Rows for all scenes, or with --sweep for launch parameters."""
    device, native = gpu(), original()
    if options.sweep:
        return sweep(device)
    return [
        *(row(scene, device, native, torch.float32) for scene in SCENES),
        *(row(SCENES[0], device, None, dtype) for dtype in (torch.float16, torch.bfloat16)),
    ]


if __name__ == "__main__":
    sys.exit(run("deformable", __doc__, rows, "--sweep"))
