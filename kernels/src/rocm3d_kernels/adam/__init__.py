"""One Adam step for the visible rows of a tensor; other rows do not change."""

from __future__ import annotations

from typing import Any

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.adam import reference  # noqa: E402
from rocm3d_kernels.arguments import check_number, check_tensors, describe  # noqa: E402
from rocm3d_kernels.dispatch import choose  # noqa: E402
from rocm3d_kernels.registration import NAMESPACE  # noqa: E402
from rocm3d_kernels.registration import is_traced as traced  # noqa: E402

__all__ = ["adam_step"]


@torch.no_grad()
def adam_step(
    parameter: torch.Tensor,  # [N, ...], or as many elements in another shape
    gradient: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    visible: torch.Tensor,  # [N]; zero or false: the row does not change
    *,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
) -> None:
    """Updates the parameter and its two moments in place, without bias correction of the moments."""
    _check(parameter, gradient, first, second, visible)
    numbers = _check_numbers(lr, betas, eps)
    if parameter.numel() == 0:
        return
    arguments = (parameter, gradient, first, second, visible.reshape(-1), *numbers)
    if traced(arguments[:5]):
        _operator(*arguments)
        return
    _run(*arguments)
    for updated in (parameter, first, second):
        # Autograd counts in-place changes by version, and does not notice those of a kernel.
        if not updated.is_inference():
            torch.autograd.graph.increment_version(updated)


def _check_numbers(lr: Any, betas: Any, eps: Any) -> tuple[float, float, float, float]:
    """lr, both betas and eps."""
    if not isinstance(betas, (tuple, list)) or len(betas) != 2:
        raise ValueError(f"adam: betas must be two numbers, not {describe(betas)}")
    first, second = (check_number("adam", "betas", one, least=0.0, most=1.0) for one in betas)
    return check_number("adam", "lr", lr), first, second, check_number("adam", "eps", eps, least=0.0)


def _check(parameter: torch.Tensor, *tensors: torch.Tensor) -> None:
    names = ("parameter", "gradient", "first", "second", "visible")
    check_tensors("adam", dict(zip(names, (parameter, *tensors), strict=True)))
    *same_shape, visible = tensors
    for name, tensor in zip(("gradient", "first", "second"), same_shape, strict=True):
        if tensor.shape != parameter.shape or tensor.dtype != parameter.dtype:
            raise ValueError(
                f"adam: {name} is {tensor.dtype} {tuple(tensor.shape)}, "
                f"but the parameter is {parameter.dtype} {tuple(parameter.shape)}"
            )
    rows = visible.numel()
    if parameter.numel() and (rows == 0 or parameter.numel() % rows):
        raise ValueError(f"adam: {parameter.numel()} elements cannot be divided into {rows} rows")
    for name, tensor in zip(names[1:], tensors, strict=True):
        if tensor.device != parameter.device:
            raise ValueError(
                f"adam: tensors are on different devices: parameter on {parameter.device}, {name} on {tensor.device}"
            )
    if visible.is_complex():
        raise TypeError(f"adam: visible must be flags or numbers, not {visible.dtype}")
    for name, tensor in zip(names, (parameter, *same_shape), strict=False):
        # Rows that share memory, as of expand(), would be updated in an arbitrary order.
        if name != "gradient" and any(
            not step and size > 1 for step, size in zip(tensor.stride(), tensor.shape, strict=True)
        ):
            raise ValueError(f"adam: elements of {name} share memory (strides {tensor.stride()}); clone() it first")


def _run(
    parameter: torch.Tensor,
    gradient: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
    visible: torch.Tensor,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
) -> None:
    """Updates `parameter`, `first` and `second` in place."""
    if choose("adam", parameter, gradient, first, second, visible) == "reference":
        reference.step(parameter, gradient, first, second, visible, lr, beta1, beta2, eps)
        return
    from rocm3d_kernels.adam import launch

    launch.step(parameter, gradient, first, second, visible, lr, beta1, beta2, eps)


_operator = torch.library.custom_op(f"{NAMESPACE}::adam_step", _run, mutates_args=("parameter", "first", "second"))
_operator.register_fake(lambda *_: None)
