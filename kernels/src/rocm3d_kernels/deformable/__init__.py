"""Multi-scale deformable attention: a few weighted samples of several feature maps for each query and head."""

from __future__ import annotations

from typing import Any

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.deformable.arguments import check, check_gradient  # noqa: E402
from rocm3d_kernels.deformable.ways import Way, found  # noqa: E402
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
    given = (value, shapes, starts, locations, weights)
    if is_traced(given):
        check(*given)
        traced: torch.Tensor = _attend(*_contiguous(*given))
        return traced
    way, tensors = found(*given), _contiguous(*given)
    if torch.is_grad_enabled() and (value.requires_grad or locations.requires_grad or weights.requires_grad):
        result: torch.Tensor = _Attend.apply(way, *tensors)
        return result
    return way.attend(*tensors)


def gradients(
    value: torch.Tensor,
    shapes: torch.Tensor,
    starts: torch.Tensor,
    locations: torch.Tensor,
    weights: torch.Tensor,
    given: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Gradients of values, locations and weights, from the gradient [N, Q, M * D] of the result."""
    tensors = (value, shapes, starts, locations, weights)
    if is_traced((*tensors, given)):
        check(*tensors)
        check_gradient(value, locations, given)
        traced: tuple[torch.Tensor, torch.Tensor, torch.Tensor] = _gradients(*_contiguous(*tensors, given))
        return traced
    way = found(*tensors)
    check_gradient(value, locations, given)
    with torch.no_grad():
        return way.gradients(*_contiguous(*tensors, given))


class _Attend(torch.autograd.Function):
    """For eager calls: the dispatch of a custom operator takes longer than the kernel of a decoder."""

    @staticmethod
    def forward(ctx: Any, way: Way, *tensors: torch.Tensor) -> torch.Tensor:
        ctx.way = way
        ctx.save_for_backward(*tensors)
        return way.attend(*tensors)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, given: torch.Tensor) -> tuple[Any, ...]:
        of_value, of_locations, of_weights = ctx.way.gradients(*ctx.saved_tensors, given.contiguous())
        return None, of_value, None, None, of_locations, of_weights


def _contiguous(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple([one.contiguous() for one in tensors])


def _attend_run(
    value: torch.Tensor, shapes: torch.Tensor, starts: torch.Tensor, locations: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    tensors = (value, shapes, starts, locations, weights)
    return found(*tensors).attend(*tensors)


def _gradients_run(
    value: torch.Tensor,
    shapes: torch.Tensor,
    starts: torch.Tensor,
    locations: torch.Tensor,
    weights: torch.Tensor,
    given: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    tensors = (value, shapes, starts, locations, weights)
    return found(*tensors).gradients(*tensors, given)


def _keep(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]  # noqa: ARG001
    ctx.save_for_backward(*inputs)


def _backward(ctx, given):  # type: ignore[no-untyped-def]
    of_value, of_locations, of_weights = _gradients(*ctx.saved_tensors, given.contiguous())
    return of_value, None, None, of_locations, of_weights


_gradients = operation(
    _gradients_run,
    lambda value, _, __, locations, weights, ___: (
        torch.empty_like(value), torch.empty_like(locations), torch.empty_like(weights),
    ),
    name="deformable_gradients",
)  # fmt: skip
_attend = operation(
    _attend_run,
    lambda value, _, __, locations, ___: value.new_empty(
        (value.shape[0], locations.shape[1], value.shape[2] * value.shape[3])
    ),
    name="deformable",
    keep=_keep,
    backward=_backward,
)
