"""Selects the implementation of an operation, and records the choice with its reason.

`triton` runs on a GPU, and on the CPU if Triton's interpreter is enabled; `reference` is plain PyTorch. There is no
silent fallback: a dtype that a kernel does not support is an error with a hint. ROCM3D_KERNELS=reference or =triton
overrides the choice.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rocm3d_kernels.told import tell
from rocm3d_kernels.versions import MissingRequirement, require

if TYPE_CHECKING:
    import torch

OVERRIDE, INTERPRETER = "ROCM3D_KERNELS", "TRITON_INTERPRET"
ON = ("1", "true", "on")
GPU = ("cuda",)  # torch reports AMD GPUs as cuda, too


@dataclass(frozen=True)
class Dispatch:
    """Implementation and device of one call of an operation, and the reason for the choice."""

    op: str
    implementation: str
    reason: str
    device: str


_LAST: list[Dispatch] = []
# Each call reads three variables. os.environ decodes at every access; its internal table does not.
_set = os.environ._data.get  # type: ignore[attr-defined]
_OVERRIDE, _INTERPRETER, _RECORD = map(os.environ.encodekey, (OVERRIDE, INTERPRETER, "ROCM3D_RECORD"))


def last_dispatch() -> Dispatch | None:
    """The choice of the latest call of any operation; None before the first call."""
    return _LAST[0] if _LAST else None


def choose(
    op: str,
    *tensors: torch.Tensor,
    kernel: tuple[str, ...] = ("float32",),
    reference: tuple[str, ...] = ("float32", "float64"),
) -> str:
    """`triton` or `reference` for these tensors; the choice is recorded.

    `kernel` and `reference` are the dtypes of the first tensor that each implementation supports.
    """
    device = one_device(op, tensors)
    found = _decided(op, device, tensors[0].dtype, kernel, reference, environment())
    remember(found)
    return found.implementation


def environment() -> tuple[Any, Any]:
    """Environment variables that a choice depends on, as bytes or None."""
    return _set(_OVERRIDE), _set(_INTERPRETER)


def remember(found: Dispatch) -> None:
    """Stores a choice for `last_dispatch` and ROCM3D_RECORD; called directly by operations with several backends."""
    _LAST[:] = [found]
    if _set(_RECORD) is not None:
        device = found.device.partition(":")[0]
        tell(kind="dispatch", op=found.op, implementation=found.implementation, reason=found.reason, device=device)


def one_device(op: str, tensors: Sequence[torch.Tensor]) -> torch.device:
    """The device that all tensors share; raises ValueError if there are several."""
    device = tensors[0].device
    for tensor in tensors:
        if tensor.device != device:
            devices = sorted({str(item.device) for item in tensors})
            raise ValueError(f"{op}: tensors are on different devices: {', '.join(devices)}")
    return device


@functools.cache
def _decided(
    op: str,
    device: torch.device,
    dtype: torch.dtype,
    kernel: tuple[str, ...],
    reference: tuple[str, ...],
    _told: tuple[Any, Any],
) -> Dispatch:
    """Cached by the environment, too: an operation may take less time than the selection."""
    asked, interpreter = os.environ.get(OVERRIDE, ""), interpreted()
    name = str(dtype).removeprefix("torch.")
    implementation, reason = _decide(op, device.type, name, kernel, reference, asked, interpreter)
    if implementation == "triton":
        require("triton")
    return Dispatch(op=op, implementation=implementation, reason=reason, device=str(device))


def interpreted() -> bool:
    """Whether Triton runs kernels on the CPU, as in the tests."""
    return os.environ.get(INTERPRETER, "0").lower() in ON


def _decide(
    op: str, device: str, dtype: str, kernel: tuple[str, ...], reference: tuple[str, ...], asked: str, interpreter: bool
) -> tuple[str, str]:
    if asked not in ("", "reference", "triton"):
        raise ValueError(f"{OVERRIDE} is {asked!r}; allowed values are reference and triton")
    can = device in GPU or interpreter
    if asked == "triton" and not can:
        raise ValueError(f"{op}: {OVERRIDE}=triton, but Triton does not run on {device} tensors")
    wanted = asked or ("triton" if can else "reference")
    reason = f"{OVERRIDE}={asked}" if asked else _reason(device, can=can)
    if wanted == "triton" and dtype not in kernel:
        if device not in GPU and not asked and dtype in reference:
            return "reference", f"no kernel for {dtype}"
        way = f"; {OVERRIDE}=reference supports it, slowly" if dtype in reference else ""
        raise TypeError(f"{op}: dtype {dtype} is not supported, the kernel supports {', '.join(kernel)}{way}")
    if wanted == "reference" and dtype not in reference:
        raise TypeError(f"{op}: dtype {dtype} is not supported, the reference supports {', '.join(reference)}")
    return wanted, reason


def _reason(device: str, *, can: bool) -> str:
    if device in GPU:
        return f"tensors on {device}"
    return "TRITON_INTERPRET=1" if can else f"tensors on {device}, where Triton does not run"


__all__ = [
    "Dispatch",
    "MissingRequirement",
    "choose",
    "environment",
    "interpreted",
    "last_dispatch",
    "one_device",
    "remember",
]
