"""Changes that make one argument of a valid call wrong, and what may come of it.

A call either refuses the argument by its name, in one line, or returns what the unchanged call returns. `Entry`
describes one public function; tests/bad_entries.py lists them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch as plain_torch

from tests import device

REFUSALS = (ValueError, TypeError, NotImplementedError)
MAX_MESSAGE = 400  # characters
OTHER_DTYPES = ("float64", "float16", "int64", "int32", "bool", "complex64")
# Values instead of a tensor.
NO_TENSORS = {"None": None, "list": [1.0], "number": 1.0, "text": "x", "object": object()}
BAD_INTEGERS = {
    "NaN": math.nan, "fraction": 1.5, "whole float": 2.0, "text": "3", "None": None, "infinity": math.inf,
    "flag": True, "huge": 10**30, "2**31": 2**31, "list": [3], "complex": 3j,
}  # fmt: skip
BAD_NUMBERS = {"NaN": math.nan, "text": "0.5", "list": [0.5], "complex": 1j, "object": object()}
INFINITIES = {"infinity": math.inf, "minus infinity": -math.inf, "huge integer": 10**400}


@dataclass(frozen=True)
class Entry:
    """One public function with valid arguments.

    `integers` and `numbers` map names to further bad values. `optional`: tensors that may be None. `harmless`: pairs of
    argument and change after which the result is the same. `shown` maps an argument to its name in messages, if that
    differs. `ordinary`: number arguments that may be None or infinite. `trusted_on_gpu`: changes that only the contents
    of a tensor contradict; reading them on a GPU would synchronize, so they are refused on the CPU alone.
    """

    name: str
    call: Callable[..., Any]
    arguments: Callable[[], dict[str, Any]]
    integers: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    numbers: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    infinite: tuple[str, ...] = ()
    harmless: tuple[tuple[str, str], ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    not_tested: tuple[tuple[str, str], ...] = ()  # changes whose result is another valid one
    trusted_on_gpu: tuple[tuple[str, str], ...] = ()

    def run(self, **changes: Any) -> list[Any]:
        """All tensors of the result."""
        result = self.call(**{**self.arguments(), **changes})
        return list(tensors_of(result))


@dataclass(frozen=True)
class Change:
    """A wrong value for one argument of an entry."""

    entry: Entry
    argument: str
    name: str
    make: Callable[[Any], Any]

    @property
    def id(self) -> str:
        return f"{self.entry.name}-{self.argument}-{self.name}"

    def is_refused(self) -> str:
        """Runs the call. The message of the refusal; empty if the result is that of the unchanged call."""
        arguments = self.entry.arguments()
        try:
            actual = list(
                tensors_of(self.entry.call(**{**arguments, self.argument: self.make(arguments[self.argument])}))
            )
        except REFUSALS as error:
            return f"{type(error).__name__}: {error}"
        for one, expected in zip(actual, self.entry.run(), strict=True):
            plain_torch.testing.assert_close(one, expected, equal_nan=True)
        return ""


def tensors_of(result: Any) -> Iterator[Any]:
    """Tensors in tuples, lists and dicts."""
    if isinstance(result, plain_torch.Tensor):
        yield result.detach()
    elif isinstance(result, (tuple, list)):
        for one in result:
            yield from tensors_of(one)


def changes(entry: Entry) -> Iterator[Change]:
    """Every wrong value of every argument."""
    not_tested = {*entry.not_tested, *(entry.trusted_on_gpu if device.on_gpu() else ())}
    for argument, value in entry.arguments().items():
        if isinstance(value, plain_torch.Tensor):
            makes = tensor_changes(value)
            if argument in entry.optional:
                makes.pop("None")
        elif argument in entry.integers:
            makes = {name: _always(one) for name, one in BAD_INTEGERS.items()}
            makes |= {repr(one): _always(one) for one in entry.integers[argument]}
        elif argument in entry.numbers:
            bad = BAD_NUMBERS | ({} if argument in entry.infinite else INFINITIES)
            makes = {name: _always(one) for name, one in bad.items()}
            makes |= {repr(one): _always(one) for one in entry.numbers[argument]}
        else:
            continue
        for name, make in makes.items():
            if (argument, name) not in not_tested:
                yield Change(entry, argument, name, make)


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


def tensor_changes(value: Any) -> dict[str, Callable[[Any], Any]]:
    """Wrong types, dtypes, devices, layouts, ranks and sizes instead of this tensor."""
    makes: dict[str, Callable[[Any], Any]] = {name: _always(one) for name, one in NO_TENSORS.items()}
    for name in OTHER_DTYPES:
        dtype = getattr(plain_torch, name)
        if dtype != value.dtype:
            makes[name] = lambda one, dtype=dtype: one.detach().to(dtype)
    makes["meta"] = lambda one: one.detach().to("meta")
    if device.on_gpu():
        makes["cpu"] = lambda one: one.detach().cpu()
    makes["sparse"] = lambda one: one.detach().to_sparse()
    makes["more dimensions"] = lambda one: one.detach()[None]
    makes["flat"] = lambda one: one.detach().flatten()
    makes["scalar"] = lambda one: one.detach().flatten()[0]
    makes["no elements"] = lambda one: one.detach().new_empty(0)
    for dimension in range(value.dim()):
        makes[f"shorter in {dimension}"] = lambda one, at=dimension: one.detach().narrow(at, 0, one.shape[at] - 1)
        makes[f"longer in {dimension}"] = lambda one, at=dimension: plain_torch.cat(
            [one.detach(), one.detach().narrow(at, 0, 1)], dim=at
        )
        makes[f"empty in {dimension}"] = lambda one, at=dimension: one.detach().narrow(at, 0, 0)
    if value.dim() == 1:
        for name in ("flat",):
            del makes[name]
    return makes


def same_values_otherwise_stored(value: Any, *, flip: bool = True) -> Any:
    """Not contiguous, with an offset that is not aligned, as a leaf that requires a gradient if it may."""
    value = value.detach()
    stored = value.new_zeros((*value.shape, 2))
    stored[..., 1] = value
    other = stored[..., 1]
    return other.requires_grad_() if flip and value.is_floating_point() else other
