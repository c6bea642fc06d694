"""Multi-scale deformable attention: a few weighted samples of several feature maps for each query and head."""

from __future__ import annotations

from typing import Any

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.deformable.arguments import check, check_gradient, check_types  # noqa: E402
from rocm3d_kernels.deformable.implementations import Implementation, find_implementation  # noqa: E402
from rocm3d_kernels.registration import is_traced, once_differentiable, operation  # noqa: E402

__all__ = ["deformable_attention", "gradients"]


def deformable_attention(
    value: torch.Tensor,
    shapes: torch.Tensor,
    starts: torch.Tensor,
    locations: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """[N, Q, M * D] of values [N, S, M, D], sampled at locations [N, Q, M, L, P, 2] and weighted by [N, Q, M, L, P].

    `shapes` [L, 2] holds height and width of each level, `starts` [L] its first pixel among the S pixels; both are
    integers. Locations are x and y from 0 to 1 over the level; locations outside it or not finite contribute nothing.
    """
    arguments = (value, shapes, starts, locations, weights)
    check_types(arguments)
    if is_traced(arguments):
        check(*arguments)
        traced: torch.Tensor = _forward_operator(*_contiguous(*arguments))
        return traced
    implementation, tensors = find_implementation(*arguments), _contiguous(*arguments)
    if torch.is_grad_enabled() and (value.requires_grad or locations.requires_grad or weights.requires_grad):
        result: torch.Tensor = _DeformableAttention.apply(implementation, *tensors)
        return result
    return implementation.forward(*tensors)


def gradients(
    value: torch.Tensor,
    shapes: torch.Tensor,
    starts: torch.Tensor,
    locations: torch.Tensor,
    weights: torch.Tensor,
    grad_output: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of values, locations and weights, from the gradient [N, Q, M * D] of the result."""
    tensors = (value, shapes, starts, locations, weights)
    check_types((*tensors, grad_output))
    if is_traced((*tensors, grad_output)):
        check(*tensors)
        check_gradient(value, locations, grad_output)
        traced: tuple[torch.Tensor, torch.Tensor, torch.Tensor] = _gradients(*_contiguous(*tensors, grad_output))
        return traced
    implementation = find_implementation(*tensors)
    check_gradient(value, locations, grad_output)
    with torch.no_grad():
        return implementation.gradients(*_contiguous(*tensors, grad_output))


class _DeformableAttention(torch.autograd.Function):
    """For eager calls: the dispatch of a custom operator takes longer than the kernel of a decoder."""

    @staticmethod
    def forward(ctx: Any, implementation: Implementation, *tensors: torch.Tensor) -> torch.Tensor:
        ctx.way = implementation
        ctx.save_for_backward(*tensors)
        return implementation.forward(*tensors)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_output: torch.Tensor) -> tuple[Any, ...]:
        grad_value, grad_locations, grad_weights = ctx.way.gradients(*ctx.saved_tensors, grad_output.contiguous())
        return None, grad_value, None, None, grad_locations, grad_weights


def _contiguous(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple([tensor.contiguous() for tensor in tensors])


def _run(
    value: torch.Tensor, shapes: torch.Tensor, starts: torch.Tensor, locations: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    tensors = (value, shapes, starts, locations, weights)
    return find_implementation(*tensors).forward(*tensors)


def _run_gradients(
    value: torch.Tensor,
    shapes: torch.Tensor,
    starts: torch.Tensor,
    locations: torch.Tensor,
    weights: torch.Tensor,
    grad_output: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    tensors = (value, shapes, starts, locations, weights)
    return find_implementation(*tensors).gradients(*tensors, grad_output)


def _save_for_backward(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]  # noqa: ARG001
    ctx.save_for_backward(*inputs)


def _backward(ctx, grad_output):  # type: ignore[no-untyped-def]
    grad_value, grad_locations, grad_weights = _gradients(*ctx.saved_tensors, grad_output.contiguous())
    return grad_value, None, None, grad_locations, grad_weights


_gradients = operation(
    _run_gradients,
    lambda value, _, __, locations, weights, ___: (
        torch.empty_like(value), torch.empty_like(locations), torch.empty_like(weights),
    ),
    name="deformable_gradients",
)  # fmt: skip
_forward_operator = operation(
    _run,
    lambda value, _, __, locations, ___: value.new_empty(
        (value.shape[0], locations.shape[1], value.shape[2] * value.shape[3])
    ),
    name="deformable",
    keep=_save_for_backward,
    backward=_backward,
)
