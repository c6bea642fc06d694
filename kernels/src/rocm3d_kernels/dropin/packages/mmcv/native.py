"""mmcv._ext: deformable attention as mmcv calls it; every other function exists and raises when it is called.

`import mmcv.ops` looks up every function of the extension and fails if one is missing, so each function that the
installed mmcv looks up must exist.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import torch

from rocm3d_kernels.deformable.native import ms_deform_attn_backward as found_gradients
from rocm3d_kernels.deformable.native import ms_deform_attn_forward
from rocm3d_kernels.dropin.declaration import DOCS

__all__ = ["ms_deform_attn_backward", "ms_deform_attn_forward"]


def ms_deform_attn_backward(
    value: torch.Tensor,
    value_spatial_shapes: torch.Tensor,
    value_level_start_index: torch.Tensor,
    sampling_locations: torch.Tensor,
    attention_weights: torch.Tensor,
    grad_output: torch.Tensor,
    grad_value: torch.Tensor,
    grad_sampling_loc: torch.Tensor,
    grad_attn_weight: torch.Tensor,
    im2col_step: int = 64,  # noqa: ARG001
) -> None:
    """Writes the gradients into the three grad tensors."""
    gradients = found_gradients(
        value, value_spatial_shapes, value_level_start_index, sampling_locations, attention_weights, grad_output
    )
    for destination, gradient in zip((grad_value, grad_sampling_loc, grad_attn_weight), gradients, strict=True):
        destination.copy_(gradient)


def requested_functions(folder: Path) -> Iterator[str]:
    """Functions that the modules of a folder look up in the extension: the lists that they pass to load_ext."""
    for file in sorted(folder.glob("*.py")):
        try:
            tree = ast.parse(file.read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
        lists = (one for call in calls if ast.unparse(call.func).endswith("load_ext") for one in call.args)
        for names in lists:
            if isinstance(names, (ast.List, ast.Tuple)):
                yield from (
                    one.value for one in names.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)
                )


def unsupported_function(name: str) -> Callable[..., Any]:
    """A function of that name that raises NotImplementedError."""

    def raise_not_covered(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"mmcv._ext.{name} is not covered by rocm3d-kernels: see {DOCS}")

    raise_not_covered.__name__ = name
    return raise_not_covered


def _add_unsupported_functions() -> None:
    spec = PathFinder.find_spec("mmcv")
    for folder in (spec and spec.submodule_search_locations) or ():
        for name in requested_functions(Path(folder) / "ops"):
            if name.isidentifier() and name not in globals():
                globals()[name] = unsupported_function(name)
                __all__.append(name)


_add_unsupported_functions()
