"""Launches Triton kernels with little CPU time.

Triton binds and specialises every argument at each launch: 20 to 40 microseconds for a kernel with many arguments,
about as long as a small scene takes on the GPU. `launch` does it once for each combination of constants, dtypes,
missing arguments, tensors that are not aligned to 16 bytes and, on AMD, tensors in more than 2 GiB of memory, whose
offsets do not fit into 32 bits. Integers are not specialised on.
Tensors are passed to the driver as addresses, so that it does not query the GPU for each. Profiler hooks see every
launch; without hooks nothing is prepared for them. A `PreparedLaunch` does still less: its caller keeps one per kind of
launch.
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
# torch.cuda.current_device without its check that CUDA is initialised: a tensor is on the GPU already.
_current = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
_stream = getattr(torch._C, "_cuda_getCurrentRawStream", lambda device: torch.cuda.current_stream(device).cuda_stream)


class _Form(NamedTuple):
    """Launches of one kernel with the same constants and the same argument types."""

    places: tuple[int, ...]  # positions of the tensors among the arguments
    tensors: Callable[[Sequence[Any]], tuple[Any, ...]]
    numbers: Callable[[Sequence[Any]], tuple[int, ...]]
    compiled: dict[tuple[Any, ...], tuple[Any, ...]]


_FORMS: dict[tuple[Any, ...], _Form] = {}


def launch(kernel: Any, grid: tuple[int, int, int], arguments: Sequence[Any], **constants: Any) -> None:
    """Runs `kernel` with arguments in the order of its signature; constants are its last parameters and options.

    The first argument is a tensor; all tensors are on its device.
    """
    if _INTERPRETED:
        kernel[grid](*arguments, **constants)
        return
    device = arguments[0].get_device()
    if device != _current():
        with torch.cuda.device(device):
            kernel[grid](*arguments, **constants)
        return
    # By id: kernels outlive all launches, and Triton's hash of a kernel takes a lock.
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
    for place, address in zip(form.places, addresses):  # noqa: B905  (of one length; the check takes time)
        values[place] = address
    run(*grid, _stream(device), function, metadata, None, None, None, *values, *rest)


class Start:
    """A launch of which only the tensors change; their dtypes, and which of them are None, stay the same.

    The kernel's arguments are tensors, then numbers, then constants.
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
        """Launches through Triton the first time and for unusual tensors, else by addresses."""
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
        """Whether the kernel is compiled for launches by addresses."""
        return self._known is not None

    def at(self, *addresses: int | None) -> None:
        """Launches with the addresses of tensors for which `can_pass_addresses` holds."""
        assert self._known is not None
        run, function, metadata, rest = self._known
        run(*self._grid, _stream(self.device), function, metadata, None, None, None, *addresses, *rest)


def address(tensor: torch.Tensor | None) -> int | None:
    """Address of the first element."""
    return None if tensor is None else _address(tensor)


def usual(device: int | None, tensors: Sequence[torch.Tensor | None]) -> bool:
    """Whether all tensors are aligned and below 2 GiB, their device is current, and there are no launch hooks."""
    if _INTERPRETED or device != _current() or _watched():
        return False
    together = 0
    for one in tensors:
        if one is not None:
            together |= _address(one)
    return not together & 15 and not (_HIP and any(one is not None and _wide(one) for one in tensors))


def _watched() -> bool:
    enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
    return bool(getattr(enter, "calls", enter) or getattr(leave, "calls", leave))


def _wide(tensor: torch.Tensor) -> bool:
    """Whether Triton would compile another kernel for AMD, which depends on the size of the storage."""
    return int(tensor.untyped_storage().nbytes()) >= _LARGEST


def _form(arguments: Sequence[Any]) -> _Form:
    places = tuple(place for place, one in enumerate(arguments) if isinstance(one, torch.Tensor))
    numbers = tuple(place for place, one in enumerate(arguments) if type(one) is int)
    return _Form(places, _getter(places), _getter(numbers), {})


def _getter(places: tuple[int, ...]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Getter of several positions; (0,) for none, so that max() has an argument."""
    if not places:
        return lambda _: (0,)
    return operator.itemgetter(*places) if len(places) > 1 else lambda given: (given[places[0]],)
