"""Launch parameters by target: one JSON file per operation, with a `default` for GPUs that were not measured.

A file maps a target (`gfx942`, `sm_90`, `interpreter`) to kernels, and a kernel to its parameters. Missing parameters
come from the default. `num_warps`, `num_stages` and the like go to Triton, the others to the kernel.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import torch

# Explicit: Triton 3.9 warns if it is missing, and 3.10 changes the default.
COMMON_OPTIONS = {"enable_fp_fusion": True}
_OVERRIDES: dict[str, dict[str, dict[str, Any]]] = {}
_OVERRIDE_CALLBACKS: list[Callable[[], None]] = []
Result = TypeVar("Result")


def tuned(op: str, kernel: str, device: torch.device) -> dict[str, Any]:
    """Parameters of one kernel on this device. A copy: the caller may change it."""
    return dict(_parameters(op, kernel, target(device)))


def table(op: str) -> dict[str, dict[str, dict[str, Any]]]:
    """The JSON file of an operation: target, kernel, parameter."""
    text = resources.files(__name__).joinpath(f"{op}.json").read_text(encoding="utf-8")
    targets: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return targets


def for_target(op: str, kernel: str, target_name: str) -> dict[str, Any]:
    """Parameters of one kernel on a target such as gfx942. A copy."""
    return dict(_parameters(op, kernel, target_name))


def override_parameters(op: str, kernels: dict[str, dict[str, Any]]) -> None:
    """Replaces parameters of the table in this process, for tuning runs; an empty dict restores the table."""
    _OVERRIDES[op] = kernels
    for callback in _OVERRIDE_CALLBACKS:
        callback()


def cached_until_override(function: Callable[..., Result]) -> Callable[..., Result]:
    """lru_cache for values computed from tuned parameters; `override_parameters` clears it."""
    cached = functools.lru_cache(maxsize=256)(function)
    on_override(cached.cache_clear)
    return cached


def on_override(callback: Callable[[], None]) -> None:
    """Registers a callback for `override_parameters`."""
    _OVERRIDE_CALLBACKS.append(callback)


@functools.cache
def target(device: torch.device) -> str:
    """`gfx942`, `sm_90`; `interpreter` for a CPU."""
    import torch

    if device.type == "cpu":
        return "interpreter"
    properties = torch.cuda.get_device_properties(device)
    if torch.version.hip is not None:
        return str(properties.gcnArchName).partition(":")[0]
    return f"sm_{properties.major}{properties.minor}"


@cached_until_override
def _parameters(op: str, kernel: str, target_name: str) -> dict[str, Any]:
    targets = table(op)
    overrides = _OVERRIDES.get(op, {}).get(kernel, {})
    return {**COMMON_OPTIONS, **targets["default"][kernel], **targets.get(target_name, {}).get(kernel, {}), **overrides}
