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
from side_by_side import agree, gpu, medians, run

SHAPES = ((100_000, 3), (1_000_000, 3), (1_000_000, 15, 3))
TOLERANCE = {"rtol": 1.3e-6, "atol": 1e-5}  # float32-elementwise of knowledge/tolerances.toml
NUMBERS = (0.01, 0.9, 0.999, 1e-15)


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


def ours(*given: torch.Tensor) -> None:
    """Our step with the common hyperparameters."""
    lr, beta1, beta2, eps = NUMBERS
    adam_step(*given, lr=lr, betas=(beta1, beta2), eps=eps)


def row(shape: tuple[int, ...], device: torch.device, theirs: Callable[..., Any] | None) -> dict[str, Any]:
    """Checks the results, then times them."""
    given = state(shape, device)
    found, exact = [one.clone() for one in given], [one.double() for one in given]
    ours(*found)
    reference.step(*exact[:4], given[4], *NUMBERS)
    errors = {name: agree(name, found[at], exact[at], **TOLERANCE) for name, at in (("value", 0), ("second", 3))}
    functions: dict[str, Callable[[], Any]] = {
        "ours": lambda: ours(*given),
        "pytorch": lambda: reference.step(*given, *NUMBERS),
    }
    if theirs is not None:
        other = [one.clone() for one in state(shape, device)]
        theirs(*other, *NUMBERS)
        errors["gsplat"] = float((other[0] - found[0]).abs().max())
        functions["gsplat"] = lambda: theirs(*given, *NUMBERS)
    return {"shape": shape, "errors": errors, "step_ms": medians(functions)}


def rows(_: Namespace) -> list[dict[str, Any]]:
    """Rows for all shapes."""
    device, theirs = gpu(), original()
    return [row(shape, device, theirs) for shape in SHAPES]


if __name__ == "__main__":
    sys.exit(run("adam", __doc__, rows))
