"""Times RoPE2D in place against curope, plain PyTorch and a copy of as many bytes, on the same tokens.

`python benchmarks/rope2d.py [--output FILE] [--sweep]`. curope must be importable for its column.
"""

from __future__ import annotations

import itertools
import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import torch

from rocm3d_kernels import last_dispatch, tuning
from rocm3d_kernels.rope2d import reference, rotate_
from side_by_side import SWEEP_SECONDS, WrongResultError, check_close, gpu, median_milliseconds, run, within_seconds

# Batch, tokens, heads and head size: DUSt3R's encoder and decoder for images of 512 by 384, and large batches.
SHAPES = ((2, 768, 16, 64), (2, 768, 12, 64), (64, 768, 16, 64), (256, 196, 12, 64))
TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}  # float32-rope of knowledge/tolerances.toml
HALF = {"rtol": 1e-2, "atol": 1e-2}  # float16-operator
BASE, SCALE = 100.0, 1.0
RotateFunction = Callable[..., Any]


def original() -> RotateFunction | None:
    """curope's function, or None if it is not installed."""
    try:
        import curope
    except ImportError as error:
        sys.stderr.write(f"curope is not timed: {error}\n")
        return None
    return curope.rope_2d  # type: ignore[no-any-return]


def inputs(shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    """Queries as a strided view of a q, k, v projection, and positions on a grid."""
    torch.manual_seed(1)
    batch, count, heads, size = shape
    tokens = torch.randn(batch, count, 3, heads, size, device=device).to(dtype)[:, :, 0]
    index = torch.arange(count, device=device)
    return tokens, torch.stack((index // 32, index % 32), dim=-1)[None].expand(batch, -1, -1).contiguous()


def row(
    shape: tuple[int, ...], dtype: torch.dtype, device: torch.device, native: RotateFunction | None
) -> dict[str, Any]:
    """Checks the results, then times them; the copy reads and writes the same number of bytes."""
    tokens, positions = inputs(shape, dtype, device)
    expected = reference.rotate(tokens.double(), positions, BASE, SCALE)
    result = rotate_(tokens.clone(), positions, BASE, SCALE)
    dispatch = last_dispatch()
    if dispatch is None or dispatch.implementation != "triton":
        raise WrongResultError(f"ran on {dispatch}")
    errors = {"ours": check_close("rope2d", result, expected, **(TOLERANCE if dtype == torch.float32 else HALF))}
    flat, other = torch.randn(2, tokens.numel(), device=device).to(dtype)
    functions: dict[str, RotateFunction] = {"ours": rotate_}
    if native is not None:
        theirs = tokens.clone()
        native(theirs, positions, BASE, SCALE)
        errors["curope"] = float((theirs.double() - expected).abs().max())
        functions["curope"] = native
    calls = {name: lambda f=f: f(tokens, positions, BASE, SCALE) for name, f in functions.items()}
    times = median_milliseconds({**calls, "copy": lambda: flat.copy_(other)})
    # Timed separately: its many small launches slow the launch of the next function.
    times |= median_milliseconds({"pytorch": lambda: reference.rotate(tokens, positions, BASE, SCALE)}, 10)
    return {"shape": shape, "dtype": str(dtype).removeprefix("torch."), "errors": errors, "ms": times}


def sweep(device: torch.device) -> list[dict[str, Any]]:
    """Times of launch parameters, the best first."""
    results = []
    arguments = {f"{shape} {dtype}": inputs(shape, dtype, device)
             for shape in (SHAPES[0], *SHAPES[2:]) for dtype in (torch.float32, torch.float16)}  # fmt: skip
    for tile, warps in within_seconds(SWEEP_SECONDS, itertools.product((256, 512, 1024, 2048), (1, 2, 4, 8))):
        tuning.override_parameters("rope2d", {"rope2d_kernel": {"TILE": tile, "num_warps": warps}})
        times = median_milliseconds({name: lambda g=g: rotate_(*g) for name, g in arguments.items()}, 10)
        results.append({"TILE": tile, "num_warps": warps, "ms": times})
    return sorted(results, key=lambda item: sum(item["ms"].values()))


def rows(options: Namespace) -> list[dict[str, Any]]:
    """Rows for all shapes and dtypes, or with --sweep for launch parameters."""
    device, native = gpu(), original()
    if options.sweep:
        return sweep(device)
    return [row(shape, dtype, device, native) for shape in SHAPES for dtype in (torch.float32, torch.float16)]


if __name__ == "__main__":
    sys.exit(run("rope2d", __doc__, rows, "--sweep"))
