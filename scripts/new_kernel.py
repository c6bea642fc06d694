"""What scripts/new.py writes for a kernel: an operation with all its parts, which runs and only squares.

Standard library only: the tests of the kernels call it, too.
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

OURS = "from rocm3d_kernels"

INIT = '''"""What OPERATION computes, in one line."""

from __future__ import annotations

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.dispatch import choose  # noqa: E402
from rocm3d_kernels.registration import operation  # noqa: E402
from rocm3d_kernels.OPERATION import reference  # noqa: E402

__all__ = ["OPERATION"]


def OPERATION(values: torch.Tensor) -> torch.Tensor:
    """What comes back, and of which shape; arguments are checked before a launch."""
    if values.dim() != 1:
        raise ValueError(f"OPERATION: values are [N], these have the shape {tuple(values.shape)}")
    result: torch.Tensor = _OPERATION(values.contiguous())
    return result


def _run(values: torch.Tensor) -> torch.Tensor:
    """By the kernel or the reference, as dispatch says."""
    if choose("OPERATION", values) == "reference":
        return reference.OPERATION(values)
    from rocm3d_kernels.OPERATION import triton

    return triton.OPERATION(values)


def _keep(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]  # noqa: ARG001
    ctx.save_for_backward(inputs[0])


def _backward(ctx, gradient):  # type: ignore[no-untyped-def]
    return 2 * ctx.saved_tensors[0] * gradient


_OPERATION = operation(_run, torch.empty_like, name="OPERATION", keep=_keep, backward=_backward)
'''

REFERENCE = '''"""OPERATION in plain PyTorch: the truth for the kernel, in float64 too."""

from __future__ import annotations

import torch


def OPERATION(values: torch.Tensor) -> torch.Tensor:
    """As the kernel's, readable first."""
    return values * values
'''

TRITON = '''"""The kernel of OPERATION: how the work is cut into programs and lanes."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from rocm3d_kernels.launching import launch
from rocm3d_kernels.tuning import tuned


@triton.jit(do_not_specialize=["count"])
def rocm3d_OPERATION_kernel(values, result, count, BLOCK: tl.constexpr):
    """BLOCK values."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = at < count
    value = tl.load(values + at, mask, other=0.0)
    tl.store(result + at, value * value, mask)


def OPERATION(values: torch.Tensor) -> torch.Tensor:
    """[N] contiguous float32 -> [N]."""
    result = torch.empty_like(values)
    if len(values):
        parameters = tuned("OPERATION", "OPERATION_kernel", values.device)
        grid = (triton.cdiv(len(values), parameters["BLOCK"]), 1, 1)
        launch(rocm3d_OPERATION_kernel, grid, (values, result, len(values)), **parameters)
    return result
'''

GATE = '''"""The kernel of OPERATION, for the AMD gate."""

from __future__ import annotations

from rocm3d_kernels.declared import Declared
from rocm3d_kernels.OPERATION.triton import rocm3d_OPERATION_kernel

KERNELS = [
    Declared("OPERATION", rocm3d_OPERATION_kernel, {"values": "*fp32", "result": "*fp32", "count": "i32"}),
]
'''

CHECKS = '''"""OPERATION, for a check on a machine: against float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.OPERATION import OPERATION, reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d_kernels.offered import Check


def checks(device: torch.device | str) -> Iterator[Check]:
    """More values than one block holds, and not a multiple of it."""
    values = torch.randn(3001, generator=torch.Generator().manual_seed(1))
    wanted, given = reference.OPERATION(values.double()), values.to(device)
    yield "OPERATION", lambda: OPERATION(given), wanted, "float32-elementwise"
'''

README = """# OPERATION

`OPERATION(values)`: what it is for, and where the mathematics is from.

| | shape | dtype |
| --- | --- | --- |
| `values` | [N] | float32; the reference takes float64 too |
| result | [N] | as the values |

    y = x²,   ∂x = 2 x ∂y

How the kernel cuts the work. Refused before a launch: what.
"""

TUNING = """{
  "default": {
    "OPERATION_kernel": {"BLOCK": 1024, "num_warps": 4}
  },
  "interpreter": {
    "OPERATION_kernel": {"BLOCK": 16, "num_warps": 1}
  }
}
"""

TEST = """from __future__ import annotations

import pytest
import torch

import rocm3d_kernels
from rocm3d_kernels.OPERATION import OPERATION, reference
from rocm3d_kernels.OPERATION.checks import checks

pytestmark = pytest.mark.usefixtures("poisoned")


def numbers(count):
    return torch.randn(count, generator=torch.Generator().manual_seed(7)).requires_grad_()


def test_wrong_shapes_and_dtypes_are_refused_before_a_launch():
    with pytest.raises(ValueError, match="OPERATION: values are"):
        OPERATION(torch.zeros(2, 3))
    with pytest.raises(TypeError, match="float16 is not supported"):
        OPERATION(torch.zeros(3).half())


@pytest.mark.parametrize("count", [0, 1, 37])
def test_the_kernel_agrees_with_float64(count, tolerance):
    values = numbers(count)
    found = OPERATION(values)
    gradient = torch.autograd.grad(found.sum(), values)[0]
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    exact = values.detach().double().requires_grad_()
    wanted = reference.OPERATION(exact)

    torch.testing.assert_close(found.double(), wanted, **tolerance["float32-elementwise"])
    true = torch.autograd.grad(wanted.sum(), exact)[0]
    torch.testing.assert_close(gradient.double(), true, **tolerance["float32-elementwise"])


def test_strides_of_any_kind_are_taken():
    values = numbers(12).detach()

    assert torch.equal(OPERATION(values[::3]), OPERATION(values[::3].contiguous()))


def test_the_gradient_is_right(monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")

    assert torch.autograd.gradcheck(OPERATION, (numbers(5).double(),), **tolerance["float64-gradcheck"])


def test_the_operator_keeps_the_rules_of_torch_library(monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")

    torch.library.opcheck(torch.ops.rocm3d_kernels.OPERATION.default, (numbers(5),))


def test_what_is_offered_agrees(tolerance, monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")

    for _, call, wanted, name in checks("cpu"):
        torch.testing.assert_close(call().double(), wanted, **tolerance[name])
"""

BENCHMARK = '''"""OPERATION against plain PyTorch, and whatever it stands in for, on the same values.

`python benchmarks/OPERATION.py [--output FILE]`.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import torch

from rocm3d_kernels.OPERATION import OPERATION, reference
from side_by_side import Red, agree, gpu, medians, write

SIZES = (1_000, 1_000_000)
TOLERANCE = {"rtol": 1.3e-6, "atol": 1e-5}  # float32-elementwise of knowledge/tolerances.toml


def row(size: int, device: torch.device) -> dict[str, Any]:
    """Right first, then timed."""
    values = torch.randn(size, device=device)
    errors = {"value": agree("value", OPERATION(values), reference.OPERATION(values.double()), **TOLERANCE)}
    functions = {"ours": lambda: OPERATION(values), "pytorch": lambda: reference.OPERATION(values)}
    return {"size": size, "errors": errors, "forward_ms": medians(functions)}


def main() -> int:
    """0 when everything was right and timed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", default="-")
    options = parser.parse_args()
    device = gpu()
    try:
        rows = [row(size, device) for size in SIZES]
    except Red as red:
        sys.stderr.write(f"red, nothing is timed: {red}\\n")
        return 1
    write("OPERATION", rows, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''


def files(name: str, home: Path) -> dict[Path, str]:
    """The parts of an operation under `home`, the folder kernels/."""
    package = home / "src" / "rocm3d_kernels"
    texts = {
        package / name / "__init__.py": INIT,
        package / name / "reference.py": REFERENCE,
        package / name / "triton.py": TRITON,
        package / name / "gate.py": GATE,
        package / name / "checks.py": CHECKS,
        package / name / "README.md": README,
        package / "tuning" / f"{name}.json": TUNING,
        home / "tests" / name / f"test_{name}.py": TEST,
        home / "benchmarks" / f"{name}.py": BENCHMARK,
    }
    return {path: _sorted(text.replace("OPERATION", name)) for path, text in texts.items()}


def is_name(name: str) -> bool:
    """Whether a folder, a module and a function may be called so."""
    return re.fullmatch(r"[a-z][a-z0-9_]*", name) is not None


def _sorted(text: str) -> str:
    """Imports of ours in their order, which the name of the operation is part of."""
    lines: list[str] = []
    for ours, block in groupby(text.splitlines(keepends=True), lambda line: line.startswith(OURS)):
        these = list(block)
        lines += sorted(map(_ordered, these), key=lambda line: line.split()[1]) if ours else these
    return "".join(lines)


def _ordered(line: str) -> str:
    """The names of one import in their order."""
    names = line.partition(" import ")[2].partition("  #")[0].strip()
    return line.replace(names, ", ".join(sorted(names.split(", "))))
