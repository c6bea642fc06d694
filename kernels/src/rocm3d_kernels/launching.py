"""Starts Triton kernels with little work on the CPU.

Triton binds and classifies every argument at each launch, 20 to 40 microseconds for a kernel with many of them; a small
scene takes little longer on the GPU. A kernel here is classified once for each set of constants, of arguments left out
and of tensors that do not begin at a multiple of 16 bytes; its integers are not specialised on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from rocm3d_kernels.dispatch import interpreted

_INTERPRETED = interpreted()
_COMPILED: dict[tuple[Any, ...], tuple[Any, tuple[Any, ...]]] = {}
_LARGEST = 2**31
# What torch.cuda.current_device does, less its look whether CUDA is there: a tensor on it is.
_current = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)


def launch(kernel: Any, grid: tuple[int, int, int], arguments: Sequence[Any], **constants: Any) -> None:
    """Runs `kernel` with arguments in the order of its signature; constants are its last parameters and options."""
    if _INTERPRETED:
        kernel[grid](*arguments, **constants)
        return
    # One bit for each argument that changes what is compiled: left out, not aligned, longer than 32 bits.
    device = pattern = 0
    bit = 1
    for one in arguments:
        if one is None:
            pattern |= bit
        elif type(one) is int:
            if not -_LARGEST < one < _LARGEST:
                pattern |= bit
        elif type(one) is not float:
            if one.data_ptr() & 15:
                pattern |= bit
            device = one.get_device()
        bit <<= 1
    if device != _current():
        with torch.cuda.device(device):
            kernel[grid](*arguments, **constants)
        return
    key = (kernel, device, pattern, tuple(constants.values()))
    known = _COMPILED.get(key)
    if known is None:
        compiled = kernel[grid](*arguments, **constants)
        names = kernel.arg_names[len(arguments) :]
        _COMPILED[key] = compiled, tuple(constants[name] for name in names)
        return
    compiled, rest = known
    compiled[grid](*arguments, *rest)
