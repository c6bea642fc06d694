"""One Adam step for the visible rows of a tensor; other rows do not change."""

from __future__ import annotations

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.adam import reference  # noqa: E402
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
    if parameter.numel() == 0:
        return
    arguments = (parameter, gradient, first, second, visible.reshape(-1), float(lr), *map(float, betas), float(eps))
    if traced(arguments[:5]):
        _operator(*arguments)
        return
    _run(*arguments)
    for updated in (parameter, first, second):
        # Autograd counts in-place changes by version, and does not notice those of a kernel.
        if not updated.is_inference():
            torch.autograd.graph.increment_version(updated)


def _check(parameter: torch.Tensor, *tensors: torch.Tensor) -> None:
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
    for tensor in tensors:
        if tensor.device != parameter.device:
            raise ValueError(f"adam: tensors are on different devices: {parameter.device} and {tensor.device}")


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
