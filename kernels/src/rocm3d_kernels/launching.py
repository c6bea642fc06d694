"""Starts Triton kernels with little work on the CPU.

Triton binds and classifies every argument at each launch, 20 to 40 microseconds for a kernel with many of them; a small
scene takes little longer on the GPU. A kernel here is classified once for each set of constants, of dtypes, of
arguments left out, of tensors that do not begin at a multiple of 16 bytes and, for AMD, of those in more than 2 GiB of
memory, whose offsets do not fit into 32 bits; its integers are not specialised on.
Tensors go to the driver as addresses, which it takes without a question to the GPU about each. Hooks of a profiler see
every launch; where there are none, nothing is made ready for them.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from triton import knobs

from rocm3d_kernels.dispatch import interpreted

_INTERPRETED = interpreted()
_LARGEST = 2**31
_HIP = torch.version.hip is not None
_address, _dtype = torch.Tensor.data_ptr, operator.attrgetter("dtype")
# What torch.cuda.current_device does, less its look whether CUDA is there: a tensor on it is.
_current = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
_stream = getattr(torch._C, "_cuda_getCurrentRawStream", lambda device: torch.cuda.current_stream(device).cuda_stream)


class _Form(NamedTuple):
    """What launches of one kernel with the same constants and the same types of arguments have in common."""

    places: tuple[int, ...]  # of tensors
    tensors: Callable[[Sequence[Any]], tuple[Any, ...]]
    numbers: Callable[[Sequence[Any]], tuple[int, ...]]
    compiled: dict[tuple[Any, ...], tuple[Any, ...]]


_FORMS: dict[tuple[Any, ...], _Form] = {}


def launch(kernel: Any, grid: tuple[int, int, int], arguments: Sequence[Any], **constants: Any) -> None:
    """Runs `kernel` with arguments in the order of its signature; constants are its last parameters and options.

    The first argument is a tensor, and all others lie where it does.
    """
    if _INTERPRETED:
        kernel[grid](*arguments, **constants)
        return
    device = arguments[0].get_device()
    if device != _current():
        with torch.cuda.device(device):
            kernel[grid](*arguments, **constants)
        return
    # Kernels outlive all launches, and Triton's own hash of one takes a lock.
    shape = (id(kernel), *map(type, arguments), *constants.values())
    form = _FORMS.get(shape)
    if form is None:
        form = _FORMS[shape] = _form(arguments)
    tensors, numbers = form.tensors(arguments), form.numbers(arguments)
    addresses = [*map(_address, tensors)]
    key: tuple[Any, ...] = (device, *map(_dtype, tensors))
    odd = functools.reduce(operator.or_, addresses) & 15 or max(numbers) >= _LARGEST or min(numbers) <= -_LARGEST
    if odd or (_HIP and any(map(_wide, tensors))):
        small = [-_LARGEST < one < _LARGEST for one in numbers]
        key = (*key, *[one & 15 == 0 for one in addresses], *small, *map(_wide, tensors))
    known = form.compiled.get(key)
    if known is None:
        compiled = kernel[grid](*arguments, **constants)
        rest = tuple(constants[name] for name in kernel.arg_names[len(arguments) :])
        form.compiled[key] = compiled, compiled.run, compiled.function, compiled.packed_metadata, rest
        return
    compiled, run, function, metadata, rest = known
    runtime = knobs.runtime
    enter, leave = runtime.launch_enter_hook, runtime.launch_exit_hook
    if getattr(enter, "calls", enter) or getattr(leave, "calls", leave):
        compiled[grid](*arguments, *rest)
        return
    values = [*arguments]
    for place, address in zip(form.places, addresses):  # noqa: B905  (of one length, and to look takes time)
        values[place] = address
    run(*grid, _stream(device), function, metadata, None, None, None, *values, *rest)


def _wide(tensor: torch.Tensor) -> bool:
    """Whether Triton would compile another kernel for AMD: it looks at the storage, too."""
    return int(tensor.untyped_storage().nbytes()) >= _LARGEST


def _form(arguments: Sequence[Any]) -> _Form:
    places = tuple(place for place, one in enumerate(arguments) if isinstance(one, torch.Tensor))
    numbers = tuple(place for place, one in enumerate(arguments) if type(one) is int)
    return _Form(places, _getter(places), _getter(numbers), {})


def _getter(places: tuple[int, ...]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Several at once; 0 where there would be none, so that there is a greatest."""
    if not places:
        return lambda _: (0,)
    return operator.itemgetter(*places) if len(places) > 1 else lambda given: (given[places[0]],)
