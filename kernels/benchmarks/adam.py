"""Times Adam for visible rows against plain PyTorch and gsplat, on the same tensors.

`python benchmarks/adam.py [--output FILE]`. gsplat must be importable for its column.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import torch

from rocm3d_kernels.adam import adam_step, reference
from side_by_side import check_close, gpu, median_milliseconds, run

SHAPES = ((100_000, 3), (1_000_000, 3), (1_000_000, 15, 3))
TOLERANCE = {"rtol": 1.3e-6, "atol": 1e-5}  # float32-elementwise of knowledge/tolerances.toml
HYPERPARAMETERS = (0.01, 0.9, 0.999, 1e-15)


def original() -> Callable[..., Any] | None:
    """gsplat's function, or None if gsplat does not work."""
    try:
        from gsplat.cuda._backend import _C
        from gsplat.cuda._wrapper import adam
    except ImportError as error:
        sys.stderr.write(f"gsplat is not timed: {error}\n")
        return None
    return adam if _C is not None else None  # type: ignore[no-any-return]


def state(shape: tuple[int, ...], device: torch.device) -> list[torch.Tensor]:
    """Parameter, gradient, both moments, and a mask with half of the rows visible."""
    torch.manual_seed(1)
    parameter, gradient, first = (torch.randn(shape, device=device) for _ in range(3))
    return [parameter, gradient, first, torch.rand(shape, device=device), torch.rand(shape[0], device=device) < 0.5]


def ours(*tensors: torch.Tensor) -> None:
    """Our step with the common hyperparameters."""
    lr, beta1, beta2, eps = HYPERPARAMETERS
    adam_step(*tensors, lr=lr, betas=(beta1, beta2), eps=eps)


def row(shape: tuple[int, ...], device: torch.device, theirs: Callable[..., Any] | None) -> dict[str, Any]:
    """Checks the results, then times them."""
    tensors = state(shape, device)
    result, exact = [one.clone() for one in tensors], [one.double() for one in tensors]
    ours(*result)
    reference.step(*exact[:4], tensors[4], *HYPERPARAMETERS)
    errors = {
        name: check_close(name, result[index], exact[index], **TOLERANCE)
        for name, index in (("value", 0), ("second", 3))
    }
    functions: dict[str, Callable[[], Any]] = {
        "ours": lambda: ours(*tensors),
        "pytorch": lambda: reference.step(*tensors, *HYPERPARAMETERS),
    }
    if theirs is not None:
        gsplat_tensors = [one.clone() for one in state(shape, device)]
        theirs(*gsplat_tensors, *HYPERPARAMETERS)
        errors["gsplat"] = float((gsplat_tensors[0] - result[0]).abs().max())
        functions["gsplat"] = lambda: theirs(*tensors, *HYPERPARAMETERS)
    return {"shape": shape, "errors": errors, "step_ms": median_milliseconds(functions)}


def rows(_: Namespace) -> list[dict[str, Any]]:
    """Rows for all shapes."""
    device, theirs = gpu(), original()
    return [row(shape, device, theirs) for shape in SHAPES]


if __name__ == "__main__":
    sys.exit(run("adam", __doc__, rows))
