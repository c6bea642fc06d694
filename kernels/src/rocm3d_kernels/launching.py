"""Starts Triton kernels with little work on the CPU.

Triton binds and classifies every argument at each launch, 20 to 40 microseconds for a kernel with many of them; a small
scene takes little longer on the GPU. A kernel here is classified once for each set of constants, of dtypes, of
arguments left out, of tensors that do not begin at a multiple of 16 bytes and, for AMD, of those in more than 2 GiB of
memory, whose offsets do not fit into 32 bits; its integers are not specialised on.
Tensors go to the driver as addresses, which it takes without a question to the GPU about each. Hooks of a profiler see
every launch; where there are none, nothing is made ready for them. A `Start` does still less: its callers keep one for
each kind of launch, and look it up by what they know anyway.
"""

from __future__ import annotations

import contextlib
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
    if _watched():
        compiled[grid](*arguments, *rest)
        return
    values = [*arguments]
    for place, address in zip(form.places, addresses):  # noqa: B905  (of one length, and to look takes time)
        values[place] = address
    run(*grid, _stream(device), function, metadata, None, None, None, *values, *rest)


class Start:
    """A launch of which only the tensors change: not their dtypes, nor which of them there are.

    Tensors come first among the kernel's arguments, then numbers, then constants.
    """

    __slots__ = ("_constants", "_grid", "_kernel", "_known", "_numbers", "device")

    def __init__(
        self, kernel: Any, device: torch.device, grid: tuple[int, int, int], numbers: tuple[float, ...] = (),
        **constants: Any,
    ) -> None:  # fmt: skip
        self._kernel, self.device, self._grid, self._numbers = kernel, device.index, grid, numbers
        self._constants = constants
        self._known: tuple[Any, ...] | None = None

    def __call__(self, *tensors: torch.Tensor | None) -> None:
        """Runs it, the first time and on unusual tensors by Triton itself."""
        common = usual(self.device, tensors)
        if common and self._known is not None:
            self.at(*map(address, tensors))
            return
        guard = contextlib.nullcontext() if _INTERPRETED else torch.cuda.device(self.device)
        with guard:
            compiled = self._kernel[self._grid](*tensors, *self._numbers, **self._constants)
        if common:
            names = self._kernel.arg_names[len(tensors) + len(self._numbers) :]
            rest = (*self._numbers, *[self._constants[name] for name in names])
            self._known = compiled.run, compiled.function, compiled.packed_metadata, rest

    @property
    def ready(self) -> bool:
        """Whether it ran on usual tensors before."""
        return self._known is not None

    def at(self, *addresses: int | None) -> None:
        """Runs it on usual tensors, by their addresses."""
        assert self._known is not None
        run, function, metadata, rest = self._known
        run(*self._grid, _stream(self.device), function, metadata, None, None, None, *addresses, *rest)


def address(tensor: torch.Tensor | None) -> int | None:
    """Of its first number."""
    return None if tensor is None else _address(tensor)


def usual(device: int | None, tensors: Sequence[torch.Tensor | None]) -> bool:
    """Whether a kernel for aligned tensors of less than 2 GiB serves, here and now, and nobody watches launches."""
    if _INTERPRETED or device != _current() or _watched():
        return False
    together = 0
    for one in tensors:
        if one is not None:
            together |= _address(one)
    return not together & 15 and not (_HIP and any(one is not None and _wide(one) for one in tensors))


def _watched() -> bool:
    """Whether a profiler looks at launches."""
    enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
    return bool(getattr(enter, "calls", enter) or getattr(leave, "calls", leave))


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
