"""Launch parameters by target, as data: one JSON file for each operation, with a `default` for unmeasured GPUs.

A file maps a target (`gfx942`, `sm_90`, `interpreter`) to kernels, and a kernel to its parameters; what a target leaves
out is the default's. `num_warps`, `num_stages` and the like go to Triton, the rest to the kernel.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import torch

# Said outright: Triton 3.9 warns where it is left out, and 3.10 changes what it means then.
ALWAYS = {"enable_fp_fusion": True}
_INSISTED: dict[str, dict[str, dict[str, Any]]] = {}
_FORGET: list[Callable[[], None]] = []
Made = TypeVar("Made")


def tuned(op: str, kernel: str, device: torch.device) -> dict[str, Any]:
    """The parameters of one kernel of an operation on this device. A copy: the caller may change it."""
    return dict(_parameters(op, kernel, target(device)))


def table(op: str) -> dict[str, dict[str, dict[str, Any]]]:
    """The whole file of an operation."""
    text = resources.files(__name__).joinpath(f"{op}.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return found


def for_target(op: str, kernel: str, name: str) -> dict[str, Any]:
    """The parameters of one kernel on a target by name."""
    return dict(_parameters(op, kernel, name))


def insist(op: str, kernels: dict[str, dict[str, Any]]) -> None:
    """These parameters from now on, whatever the table says: for the search for better ones."""
    _INSISTED[op] = kernels
    for forget in _FORGET:
        forget()


def kept(make: Callable[..., Made]) -> Callable[..., Made]:
    """What was made of tuned parameters, until others are insisted on."""
    found = functools.lru_cache(maxsize=256)(make)
    forget_with(found.cache_clear)
    return found


def forget_with(forget: Callable[[], None]) -> None:
    """To be called when other parameters are insisted on."""
    _FORGET.append(forget)


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


@kept
def _parameters(op: str, kernel: str, name: str) -> dict[str, Any]:
    targets = table(op)
    insisted = _INSISTED.get(op, {}).get(kernel, {})
    return {**ALWAYS, **targets["default"][kernel], **targets.get(name, {}).get(kernel, {}), **insisted}
