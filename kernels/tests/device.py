"""The device that the tests run on, and torch as the tests use it: what it makes lies on that device."""

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
# Names of the kernels that were launched on the GPU, with how often.
LAUNCHES: Counter[str] = Counter()
FACTORIES = (
    "arange", "empty", "eye", "from_numpy", "full", "linspace", "ones", "rand", "randint", "randn", "tensor", "zeros",
)  # fmt: skip


class _TorchOnDevice(ModuleType):
    """torch for test modules only.

    The package under test sees the real torch and no default device, so that a tensor which it makes in the wrong place
    is found. Numbers are drawn on the CPU, so that every device gets the same ones.
    """

    def __getattr__(self, name: str) -> Any:
        value = getattr(plain_torch, name)
        return _placed(value) if name in FACTORIES and DEVICE.type != "cpu" else value


def _placed(factory: Any) -> Any:
    @functools.wraps(factory)
    def make(*args: Any, **named: Any) -> Any:
        if "device" in named:
            return factory(*args, **named)
        learns = named.pop("requires_grad", False)
        return factory(*args, **named).to(DEVICE).requires_grad_(learns)

    return make


torch: Any = _TorchOnDevice("torch")


def choose(name: str) -> None:
    """`cpu`, `gpu` or `auto`; before Triton is imported, which reads once whether it interprets."""
    global DEVICE  # noqa: PLW0603
    if "triton" in sys.modules:
        raise pytest.UsageError(
            "a pytest plugin imported triton before --device was read: switch it off with -p no:NAME"
        )
    there = plain_torch.cuda.is_available()
    if name == "cpu" or (name == "auto" and not there):
        os.environ["TRITON_INTERPRET"] = "1"
        return
    if not there:
        raise pytest.UsageError(
            f"--device gpu: torch {plain_torch.__version__} finds no GPU here; "
            "--device cpu runs the kernels in Triton's interpreter"
        )
    os.environ.pop("TRITON_INTERPRET", None)
    # What cuBLAS needs for the same bits each time; it reads it when it starts.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    DEVICE = plain_torch.device("cuda", plain_torch.cuda.current_device())
    _count_launches()


def on_gpu() -> bool:
    """Whether the tests run on a GPU."""
    return DEVICE.type != "cpu"


def _count_launches() -> None:
    """Each launch of a Triton kernel goes through the launcher that the driver made for it.

    Triton's own launch hooks would switch off the short way of `rocm3d_kernels.launching`.
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
    """Operations take their references: for float64, which no kernel takes, and which a GPU wants to be told."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROCM3D_KERNELS", "reference")
        yield


def reference_for(dtype: Any) -> contextlib.AbstractContextManager[None]:
    """`by_reference` for float64; the kernels for all else."""
    return by_reference() if dtype == plain_torch.float64 else contextlib.nullcontext()
