"""Templates of scripts/new.py for a kernel: a complete, working operation that squares its input.

Standard library only: the tests of the kernels use it too.
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

IMPORT_PREFIX = "from rocm3d_kernels"

INIT = '''"""OPERATION: what it computes, in one line."""

from __future__ import annotations

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.dispatch import choose  # noqa: E402
from rocm3d_kernels.registration import operation  # noqa: E402
from rocm3d_kernels.OPERATION import reference  # noqa: E402

__all__ = ["OPERATION"]


def OPERATION(values: torch.Tensor) -> torch.Tensor:
    """[N] -> [N]: what the result is. Arguments are checked before a launch."""
    if values.dim() != 1:
        raise ValueError(f"OPERATION: values must be [N], not {tuple(values.shape)}")
    result: torch.Tensor = _OPERATION(values.contiguous())
    return result


def _run(values: torch.Tensor) -> torch.Tensor:
    """Runs the kernel or the reference."""
    if choose("OPERATION", values) == "reference":
        return reference.OPERATION(values)
    from rocm3d_kernels.OPERATION import triton

    return triton.OPERATION(values)


def _save_for_backward(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]  # noqa: ARG001
    ctx.save_for_backward(inputs[0])


def _backward(ctx, gradient):  # type: ignore[no-untyped-def]
    return 2 * ctx.saved_tensors[0] * gradient


_OPERATION = operation(_run, torch.empty_like, name="OPERATION", keep=_save_for_backward, backward=_backward)
'''

REFERENCE = '''"""OPERATION in plain PyTorch: the reference that the kernel is compared with, also in float64."""

from __future__ import annotations

import torch


def OPERATION(values: torch.Tensor) -> torch.Tensor:
    """[N] -> [N]. Readable first: this is the definition of the operation."""
    return values * values
'''

TRITON = '''"""Triton kernel of OPERATION: shapes and layouts of its tensors, and how programs divide the work.

values, result [count], contiguous float32. A program owns BLOCK elements.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from rocm3d_kernels.launching import launch
from rocm3d_kernels.tuning import tuned


@triton.jit(do_not_specialize=["count"])
def rocm3d_OPERATION_kernel(values, result, count, BLOCK: tl.constexpr):
    """result = values * values."""
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    value = tl.load(values + index, mask, other=0.0)
    tl.store(result + index, value * value, mask)


def OPERATION(values: torch.Tensor) -> torch.Tensor:
    """[N] contiguous float32 -> [N]."""
    result = torch.empty_like(values)
    if len(values):
        parameters = tuned("OPERATION", "OPERATION_kernel", values.device)
        grid = (triton.cdiv(len(values), parameters["BLOCK"]), 1, 1)
        launch(rocm3d_OPERATION_kernel, grid, (values, result, len(values)), **parameters)
    return result
'''

GATE = '''"""The OPERATION kernel that the AMD gate compiles."""

from __future__ import annotations

from rocm3d_kernels.gate_kernel import GateKernel
from rocm3d_kernels.OPERATION.triton import rocm3d_OPERATION_kernel

KERNELS = [
    GateKernel("OPERATION", rocm3d_OPERATION_kernel, {"values": "*fp32", "result": "*fp32", "count": "i32"}),
]
'''

CHECKS = '''"""Checks of OPERATION for `rocm3d smoke`: against float64."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from rocm3d_kernels.OPERATION import OPERATION, reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d_kernels.operation_checks import Check


def checks(device: torch.device | str) -> Iterator[Check]:
    """Uses more values than one block holds, and not a multiple of it."""
    values = torch.randn(3001, generator=torch.Generator().manual_seed(1))
    expected, on_device = reference.OPERATION(values.double()), values.to(device)
    yield "OPERATION", lambda: OPERATION(on_device), expected, "float32-elementwise"
'''

README = """# OPERATION

`OPERATION(values)`: what it computes, and the source of its formula.

| | shape | dtype |
| --- | --- | --- |
| `values` | [N] | float32; the reference supports float64 too |
| result | [N] | as the values |

    y = x²,   ∂x = 2 x ∂y

How the kernel divides the work. Rejected before a launch: which arguments.
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
from tests.device import DEVICE, torch

import rocm3d_kernels
from rocm3d_kernels.OPERATION import OPERATION, reference
from rocm3d_kernels.OPERATION.checks import checks

pytestmark = pytest.mark.usefixtures("poisoned")


def random_values(count):
    return torch.randn(count, generator=torch.Generator().manual_seed(7)).requires_grad_()


def test_wrong_shapes_and_dtypes_are_rejected_before_a_launch():
    with pytest.raises(ValueError, match="OPERATION: values must be"):
        OPERATION(torch.zeros(2, 3))
    with pytest.raises(TypeError, match="float16 is not supported"):
        OPERATION(torch.zeros(3).half())


@pytest.mark.parametrize("count", [0, 1, 37])
def test_kernel_agrees_with_float64(count, tolerance):
    values = random_values(count)
    result = OPERATION(values)
    gradient = torch.autograd.grad(result.sum(), values)[0]
    assert rocm3d_kernels.last_dispatch().implementation == "triton"
    exact = values.detach().double().requires_grad_()
    expected = reference.OPERATION(exact)

    torch.testing.assert_close(result.double(), expected, **tolerance["float32-elementwise"])
    expected_gradient = torch.autograd.grad(expected.sum(), exact)[0]
    torch.testing.assert_close(gradient.double(), expected_gradient, **tolerance["float32-elementwise"])


def test_any_strides_are_supported():
    values = random_values(12).detach()

    assert torch.equal(OPERATION(values[::3]), OPERATION(values[::3].contiguous()))


def test_gradient_agrees_with_finite_differences(monkeypatch, tolerance):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")

    assert torch.autograd.gradcheck(OPERATION, (random_values(5).double(),), **tolerance["float64-gradcheck"])


def test_operator_passes_opcheck(monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")

    torch.library.opcheck(torch.ops.rocm3d_kernels.OPERATION.default, (random_values(5),))


def test_checks_agree_with_the_reference(tolerance, monkeypatch):
    monkeypatch.setenv("ROCM3D_KERNELS", "reference")

    for _, call, expected, name in checks(DEVICE):
        torch.testing.assert_close(call().double().cpu(), expected, **tolerance[name])
"""

BENCHMARK = '''"""Times OPERATION against plain PyTorch and the original that it replaces, on the same values.

`python benchmarks/OPERATION.py [--output FILE]`.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import torch

from rocm3d_kernels.OPERATION import OPERATION, reference
from side_by_side import WrongResultError, check_close, gpu, median_milliseconds, write

SIZES = (1_000, 1_000_000)
TOLERANCE = {"rtol": 1.3e-6, "atol": 1e-5}  # float32-elementwise of knowledge/tolerances.toml


def row(size: int, device: torch.device) -> dict[str, Any]:
    """Checks the result, then times it."""
    values = torch.randn(size, device=device)
    errors = {"value": check_close("value", OPERATION(values), reference.OPERATION(values.double()), **TOLERANCE)}
    functions = {"ours": lambda: OPERATION(values), "pytorch": lambda: reference.OPERATION(values)}
    return {"size": size, "errors": errors, "forward_ms": median_milliseconds(functions)}


def main() -> int:
    """Exit code 0 if the results were correct and timed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", default="-")
    options = parser.parse_args()
    device = gpu()
    try:
        rows = [row(size, device) for size in SIZES]
    except WrongResultError as error:
        sys.stderr.write(f"wrong result, nothing was timed: {error}\\n")
        return 1
    write("OPERATION", rows, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
'''


def files(name: str, home: Path) -> dict[Path, str]:
    """Paths and texts of an operation's files; `home` is the folder kernels/."""
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
    return {path: _sort_imports(text.replace("OPERATION", name)) for path, text in texts.items()}


def is_name(name: str) -> bool:
    """Whether the name is valid for a folder, a module and a function."""
    return re.fullmatch(r"[a-z][a-z0-9_]*", name) is not None


def _sort_imports(text: str) -> str:
    """Sorts the imports of rocm3d_kernels, whose order depends on the name of the operation."""
    lines: list[str] = []
    for is_ours, block in groupby(text.splitlines(keepends=True), lambda line: line.startswith(IMPORT_PREFIX)):
        block_lines = list(block)
        lines += sorted(map(_sort_names, block_lines), key=lambda line: line.split()[1]) if is_ours else block_lines
    return "".join(lines)


def _sort_names(line: str) -> str:
    names = line.partition(" import ")[2].partition("  #")[0].strip()
    return line.replace(names, ", ".join(sorted(names.split(", "))))
