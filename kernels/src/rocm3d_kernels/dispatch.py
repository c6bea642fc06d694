"""Which implementation an operation takes, why, and the word about it afterwards.

`triton` runs on a GPU, and on the CPU where Triton's interpreter is on; `reference` is plain PyTorch. There is no
silent fallback: what a kernel cannot take is an error that names the way out. ROCM3D_KERNELS=reference or =triton
insists on one.
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
GPU = ("cuda",)  # also what torch calls an AMD GPU


@dataclass(frozen=True)
class Dispatch:
    """What one call of an operation ran on, and why."""

    op: str
    implementation: str
    reason: str
    device: str


_LAST: list[Dispatch] = []
# Each call looks at three variables, which os.environ translates each time: its own table has them as they are.
_set = os.environ._data.get  # type: ignore[attr-defined]
_OVERRIDE, _INTERPRETER, _RECORD = map(os.environ.encodekey, (OVERRIDE, INTERPRETER, "ROCM3D_RECORD"))


def last_dispatch() -> Dispatch | None:
    """What the latest call of any operation took; None before the first."""
    return _LAST[0] if _LAST else None


def choose(
    op: str,
    *tensors: torch.Tensor,
    kernel: tuple[str, ...] = ("float32",),
    reference: tuple[str, ...] = ("float32", "float64"),
) -> str:
    """`triton` or `reference` for these tensors, remembered and recorded.

    `kernel` and `reference` name the dtypes of the first tensor that each takes.
    """
    device = one_device(op, tensors)
    found = _decided(op, device, tensors[0].dtype, kernel, reference, environment())
    remember(found)
    return found.implementation


def environment() -> tuple[Any, Any]:
    """All that a choice depends on besides the tensors."""
    return _set(_OVERRIDE), _set(_INTERPRETER)


def remember(found: Dispatch) -> None:
    """What a call took, for `last_dispatch` and the record; for an operation that has more ways than the two."""
    _LAST[:] = [found]
    if _set(_RECORD) is not None:
        device = found.device.partition(":")[0]
        tell(kind="dispatch", op=found.op, implementation=found.implementation, reason=found.reason, device=device)


def one_device(op: str, tensors: Sequence[torch.Tensor]) -> torch.device:
    """The device of all of them."""
    device = tensors[0].device
    for tensor in tensors:
        if tensor.device != device:
            devices = sorted({str(item.device) for item in tensors})
            raise ValueError(f"{op}: tensors lie on different devices: {', '.join(devices)}")
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
    """Kept, as long as nobody tells otherwise: an operation may take less time than this question."""
    asked, interpreter = os.environ.get(OVERRIDE, ""), interpreted()
    name = str(dtype).removeprefix("torch.")
    implementation, reason = _decide(op, device.type, name, kernel, reference, asked, interpreter)
    if implementation == "triton":
        require("triton")
    return Dispatch(op=op, implementation=implementation, reason=reason, device=str(device))


def interpreted() -> bool:
    """Whether Triton runs kernels on the CPU, for tests."""
    return os.environ.get(INTERPRETER, "0").lower() in ON


def _decide(
    op: str, device: str, dtype: str, kernel: tuple[str, ...], reference: tuple[str, ...], asked: str, interpreter: bool
) -> tuple[str, str]:
    if asked not in ("", "reference", "triton"):
        raise ValueError(f"{OVERRIDE} is {asked!r}; it may be reference or triton")
    can = device in GPU or interpreter
    if asked == "triton" and not can:
        raise ValueError(f"{op}: {OVERRIDE}=triton, but there is no Triton for tensors on {device}")
    wanted = asked or ("triton" if can else "reference")
    reason = f"{OVERRIDE}={asked}" if asked else _reason(device, can=can)
    if wanted == "triton" and dtype not in kernel:
        if device not in GPU and not asked and dtype in reference:
            return "reference", f"no kernel for {dtype}"
        way = f"; {OVERRIDE}=reference takes it, slowly" if dtype in reference else ""
        raise TypeError(f"{op}: dtype {dtype} is not supported, the kernel takes {', '.join(kernel)}{way}")
    if wanted == "reference" and dtype not in reference:
        raise TypeError(f"{op}: dtype {dtype} is not supported, the reference takes {', '.join(reference)}")
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
