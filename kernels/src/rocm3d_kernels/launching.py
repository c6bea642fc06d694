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

from rocm3d_kernels.dispatch import is_interpreted

_INTERPRETED = is_interpreted()
_INT32_END = 2**31
_HIP = torch.version.hip is not None
_address, _dtype = torch.Tensor.data_ptr, operator.attrgetter("dtype")
# torch.cuda.current_device without its check that CUDA is initialised: a tensor is on the GPU already.
_current = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
_stream = getattr(torch._C, "_cuda_getCurrentRawStream", lambda device: torch.cuda.current_stream(device).cuda_stream)


class _Signature(NamedTuple):
    """Launches of one kernel with the same constants and the same argument types."""

    tensor_positions: tuple[int, ...]  # positions of the tensors among the arguments
    get_tensors: Callable[[Sequence[Any]], tuple[Any, ...]]
    get_integers: Callable[[Sequence[Any]], tuple[int, ...]]
    compiled: dict[tuple[Any, ...], tuple[Any, ...]]


_SIGNATURES: dict[tuple[Any, ...], _Signature] = {}


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
    signature_key = (id(kernel), *map(type, arguments), *constants.values())
    signature = _SIGNATURES.get(signature_key)
    if signature is None:
        signature = _SIGNATURES[signature_key] = _make_signature(arguments)
    tensors, integers = signature.get_tensors(arguments), signature.get_integers(arguments)
    addresses = [*map(_address, tensors)]
    key: tuple[Any, ...] = (device, *map(_dtype, tensors))
    is_unusual = (
        functools.reduce(operator.or_, addresses) & 15 or max(integers) >= _INT32_END or min(integers) <= -_INT32_END
    )
    if is_unusual or (_HIP and any(map(_exceeds_2_gib, tensors))):
        fits_int32 = [-_INT32_END < one < _INT32_END for one in integers]
        key = (*key, *[one & 15 == 0 for one in addresses], *fits_int32, *map(_exceeds_2_gib, tensors))
    cached = signature.compiled.get(key)
    if cached is None:
        compiled = kernel[grid](*arguments, **constants)
        constant_values = tuple(constants[name] for name in kernel.arg_names[len(arguments) :])
        signature.compiled[key] = compiled, compiled.run, compiled.function, compiled.packed_metadata, constant_values
        return
    compiled, run, function, metadata, constant_values = cached
    if _has_launch_hooks():
        compiled[grid](*arguments, *constant_values)
        return
    values = [*arguments]
    for position, address in zip(signature.tensor_positions, addresses):  # noqa: B905  (of one length; the check takes time)
        values[position] = address
    run(*grid, _stream(device), function, metadata, None, None, None, *values, *constant_values)


class PreparedLaunch:
    """A launch of which only the tensors change; their dtypes, and which of them are None, stay the same.

    The kernel's arguments are tensors, then numbers, then constants.
    """

    __slots__ = ("_compiled", "_constants", "_grid", "_kernel", "_numbers", "device")

    def __init__(
        self, kernel: Any, device: torch.device, grid: tuple[int, int, int], numbers: tuple[float, ...] = (),
        **constants: Any,
    ) -> None:  # fmt: skip
        self._kernel, self.device, self._grid, self._numbers = kernel, device.index, grid, numbers
        self._constants = constants
        self._compiled: tuple[Any, ...] | None = None

    def __call__(self, *tensors: torch.Tensor | None) -> None:
        """Launches through Triton the first time and for unusual tensors, else by addresses."""
        by_address = can_pass_addresses(self.device, tensors)
        if by_address and self._compiled is not None:
            self.launch_addresses(*map(address, tensors))
            return
        guard = contextlib.nullcontext() if _INTERPRETED else torch.cuda.device(self.device)
        with guard:
            compiled = self._kernel[self._grid](*tensors, *self._numbers, **self._constants)
        if by_address:
            names = self._kernel.arg_names[len(tensors) + len(self._numbers) :]
            values = (*self._numbers, *[self._constants[name] for name in names])
            self._compiled = compiled.run, compiled.function, compiled.packed_metadata, values

    @property
    def is_ready(self) -> bool:
        """Whether the kernel is compiled for launches by addresses."""
        return self._compiled is not None

    def launch_addresses(self, *addresses: int | None) -> None:
        """Launches with the addresses of tensors for which `can_pass_addresses` holds."""
        assert self._compiled is not None
        run, function, metadata, values = self._compiled
        run(*self._grid, _stream(self.device), function, metadata, None, None, None, *addresses, *values)


def address(tensor: torch.Tensor | None) -> int | None:
    """Address of the first element."""
    return None if tensor is None else _address(tensor)


def can_pass_addresses(device: int | None, tensors: Sequence[torch.Tensor | None]) -> bool:
    """Whether all tensors are aligned and below 2 GiB, their device is current, and there are no launch hooks."""
    if _INTERPRETED or device != _current() or _has_launch_hooks():
        return False
    address_bits = 0
    for one in tensors:
        if one is not None:
            address_bits |= _address(one)
    return not address_bits & 15 and not (_HIP and any(one is not None and _exceeds_2_gib(one) for one in tensors))


def _has_launch_hooks() -> bool:
    enter_hook, exit_hook = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
    return bool(getattr(enter_hook, "calls", enter_hook) or getattr(exit_hook, "calls", exit_hook))


def _exceeds_2_gib(tensor: torch.Tensor) -> bool:
    """Whether Triton would compile another kernel for AMD, which depends on the size of the storage."""
    return int(tensor.untyped_storage().nbytes()) >= _INT32_END


def _make_signature(arguments: Sequence[Any]) -> _Signature:
    tensor_positions = tuple(position for position, one in enumerate(arguments) if isinstance(one, torch.Tensor))
    integer_positions = tuple(position for position, one in enumerate(arguments) if type(one) is int)
    return _Signature(tensor_positions, _getter(tensor_positions), _getter(integer_positions), {})


def _getter(positions: tuple[int, ...]) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """Getter of several positions; (0,) for none, so that max() has an argument."""
    if not positions:
        return lambda _: (0,)
    return operator.itemgetter(*positions) if len(positions) > 1 else lambda arguments: (arguments[positions[0]],)
