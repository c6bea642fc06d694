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

from rocm3d_kernels.events import write_event
from rocm3d_kernels.versions import MissingRequirementError, require

if TYPE_CHECKING:
    import torch

OVERRIDE, INTERPRETER = "ROCM3D_KERNELS", "TRITON_INTERPRET"
TRUE_VALUES = ("1", "true", "on")
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
_getenv = os.environ._data.get  # type: ignore[attr-defined]
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
    device = common_device(op, tensors)
    dispatch = _cached_dispatch(op, device, tensors[0].dtype, kernel, reference, environment())
    record_dispatch(dispatch)
    return dispatch.implementation


def environment() -> tuple[Any, Any]:
    """Environment variables that a choice depends on, as bytes or None."""
    return _getenv(_OVERRIDE), _getenv(_INTERPRETER)


def record_dispatch(dispatch: Dispatch) -> None:
    """Stores a choice for `last_dispatch` and ROCM3D_RECORD; called directly by operations with several backends."""
    _LAST[:] = [dispatch]
    if _getenv(_RECORD) is not None:
        device = dispatch.device.partition(":")[0]
        write_event(
            kind="dispatch",
            op=dispatch.op,
            implementation=dispatch.implementation,
            reason=dispatch.reason,
            device=device,
        )


def common_device(op: str, tensors: Sequence[torch.Tensor]) -> torch.device:
    """The device that all tensors share; raises ValueError if there are several."""
    device = tensors[0].device
    for tensor in tensors:
        if tensor.device != device:
            devices = sorted({str(item.device) for item in tensors})
            raise ValueError(f"{op}: tensors are on different devices: {', '.join(devices)}")
    return device


@functools.cache
def _cached_dispatch(
    op: str,
    device: torch.device,
    dtype: torch.dtype,
    kernel: tuple[str, ...],
    reference: tuple[str, ...],
    _environment: tuple[Any, Any],
) -> Dispatch:
    """Cached by the environment, too: an operation may take less time than the selection."""
    override, interpreter = os.environ.get(OVERRIDE, ""), is_interpreted()
    name = str(dtype).removeprefix("torch.")
    implementation, reason = _select_implementation(op, device.type, name, kernel, reference, override, interpreter)
    if implementation == "triton":
        require("triton")
    return Dispatch(op=op, implementation=implementation, reason=reason, device=str(device))


def is_interpreted() -> bool:
    """Whether Triton runs kernels on the CPU, as in the tests."""
    return os.environ.get(INTERPRETER, "0").lower() in TRUE_VALUES


def _select_implementation(
    op: str,
    device: str,
    dtype: str,
    kernel: tuple[str, ...],
    reference: tuple[str, ...],
    override: str,
    interpreter: bool,
) -> tuple[str, str]:
    if override not in ("", "reference", "triton"):
        raise ValueError(f"{OVERRIDE} is {override!r}; allowed values are reference and triton")
    can_run_triton = device in GPU or interpreter
    if override == "triton" and not can_run_triton:
        raise ValueError(f"{op}: {OVERRIDE}=triton, but Triton does not run on {device} tensors")
    implementation = override or ("triton" if can_run_triton else "reference")
    reason = f"{OVERRIDE}={override}" if override else _reason(device, can_run_triton=can_run_triton)
    if implementation == "triton" and dtype not in kernel:
        if device not in GPU and not override and dtype in reference:
            return "reference", f"no kernel for {dtype}"
        hint = f"; {OVERRIDE}=reference supports it, slowly" if dtype in reference else ""
        raise TypeError(f"{op}: dtype {dtype} is not supported, the kernel supports {', '.join(kernel)}{hint}")
    if implementation == "reference" and dtype not in reference:
        raise TypeError(f"{op}: dtype {dtype} is not supported, the reference supports {', '.join(reference)}")
    return implementation, reason


def _reason(device: str, *, can_run_triton: bool) -> str:
    if device in GPU:
        return f"tensors on {device}"
    return "TRITON_INTERPRET=1" if can_run_triton else f"tensors on {device}, where Triton does not run"


__all__ = [
    "Dispatch",
    "MissingRequirementError",
    "choose",
    "common_device",
    "environment",
    "is_interpreted",
    "last_dispatch",
    "record_dispatch",
]
