"""The device of the tests, and a torch whose factory functions create tensors on that device."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections import Counter
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
import torch as plain_torch

DEVICE = plain_torch.device("cpu")
# Number of launches on the GPU by kernel name.
LAUNCHES: Counter[str] = Counter()
FACTORIES = (
    "arange", "empty", "eye", "from_numpy", "full", "linspace", "ones", "rand", "randint", "randn", "tensor", "zeros",
)  # fmt: skip


class _TorchOnDevice(ModuleType):
    """torch for test modules only.

    The package under test uses the real torch without a default device, so that a tensor which it creates on the wrong
    device fails a test. Random numbers are drawn on the CPU, so that they are the same on every device.
    """

    def __getattr__(self, name: str) -> Any:
        value = getattr(plain_torch, name)
        return _on_device(value) if name in FACTORIES and DEVICE.type != "cpu" else value


def _on_device(factory: Any) -> Any:
    @functools.wraps(factory)
    def make(*args: Any, **named: Any) -> Any:
        if "device" in named:
            return factory(*args, **named)
        learns = named.pop("requires_grad", False)
        return factory(*args, **named).to(DEVICE).requires_grad_(learns)

    return make


torch: Any = _TorchOnDevice("torch")


def choose(name: str) -> None:
    """Selects `cpu`, `gpu` or `auto`. Call before Triton is imported: it reads TRITON_INTERPRET once."""
    global DEVICE  # noqa: PLW0603
    if "triton" in sys.modules:
        raise pytest.UsageError("a pytest plugin imported triton before --device was read: disable it with -p no:NAME")
    has_gpu = plain_torch.cuda.is_available()
    if name == "cpu" or (name == "auto" and not has_gpu):
        os.environ["TRITON_INTERPRET"] = "1"
        return
    if not has_gpu:
        raise pytest.UsageError(
            f"--device gpu: torch {plain_torch.__version__} finds no GPU; "
            "--device cpu runs the kernels in Triton's interpreter"
        )
    os.environ.pop("TRITON_INTERPRET", None)
    # Needed for deterministic cuBLAS; it is read when cuBLAS starts.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    DEVICE = plain_torch.device("cuda", plain_torch.cuda.current_device())
    _count_launches()


def on_gpu() -> bool:
    return DEVICE.type != "cpu"


def _count_launches() -> None:
    """Counts launches in the launcher class of the driver.

    Triton's own launch hooks would disable launches by address in `rocm3d_kernels.launching`.
    """
    from triton.runtime import driver

    launcher = driver.active.launcher_cls
    initialise, call = launcher.__init__, launcher.__call__

    def counted_initialise(self: Any, source: Any, metadata: Any) -> None:
        initialise(self, source, metadata)
        self.kernel_name = metadata.name

    def counted_call(self: Any, x: int, y: int, z: int, *rest: Any) -> Any:
        LAUNCHES[self.kernel_name] += x * y * z > 0
        return call(self, x, y, z, *rest)

    launcher.__init__, launcher.__call__ = counted_initialise, counted_call


@contextlib.contextmanager
def by_reference() -> Iterator[None]:
    """Selects the reference implementations: no kernel supports float64, and on a GPU that would be an error."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROCM3D_KERNELS", "reference")
        yield


def reference_for(dtype: Any) -> contextlib.AbstractContextManager[None]:
    """`by_reference` for float64, else the kernels."""
    return by_reference() if dtype == plain_torch.float64 else contextlib.nullcontext()
