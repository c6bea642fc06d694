"""Starts Triton kernels with little work on the CPU.

Triton binds and classifies every argument at each launch, 20 to 40 microseconds for a kernel with many of them; a small
scene takes little longer on the GPU. A kernel here is classified once for each set of constants, of dtypes, of
arguments left out and of tensors that do not begin at a multiple of 16 bytes; its integers are not specialised on.
Hooks of a profiler see every launch; where there are none, nothing is made ready for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from triton import knobs

from rocm3d_kernels.dispatch import interpreted

_INTERPRETED = interpreted()
_COMPILED: dict[tuple[Any, ...], tuple[Any, ...]] = {}
_LARGEST = 2**31
# What torch.cuda.current_device does, less its look whether CUDA is there: a tensor on it is.
_current = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
_stream = getattr(torch._C, "_cuda_getCurrentRawStream", lambda device: torch.cuda.current_stream(device).cuda_stream)


def launch(kernel: Any, grid: tuple[int, int, int], arguments: Sequence[Any], **constants: Any) -> None:
    """Runs `kernel` with arguments in the order of its signature; constants are its last parameters and options."""
    if _INTERPRETED:
        kernel[grid](*arguments, **constants)
        return
    device, pattern, dtypes = _kind(arguments)
    if device != _current():
        with torch.cuda.device(device):
            kernel[grid](*arguments, **constants)
        return
    key = (kernel, device, pattern, dtypes, tuple(constants.values()))
    known = _COMPILED.get(key)
    if known is None:
        compiled = kernel[grid](*arguments, **constants)
        rest = tuple(constants[name] for name in kernel.arg_names[len(arguments) :])
        _COMPILED[key] = compiled, compiled.run, compiled.function, compiled.packed_metadata, rest
        return
    compiled, run, function, metadata, rest = known
    if _watched():
        compiled[grid](*arguments, *rest)
    else:
        run(*grid, _stream(device), function, metadata, None, None, None, *arguments, *rest)


def _kind(arguments: Sequence[Any]) -> tuple[int, int, tuple[Any, ...]]:
    """The device, a bit for each argument that is left out, not aligned or over 32 bits, and the dtypes."""
    device = pattern = 0
    bit = 1
    dtypes = []
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
            dtypes.append(one.dtype)
        bit <<= 1
    return device, pattern, tuple(dtypes)


def _watched() -> bool:
    """Whether somebody wants to know of launches."""
    runtime = knobs.runtime
    return any(getattr(hook, "calls", hook) for hook in (runtime.launch_enter_hook, runtime.launch_exit_hook))
