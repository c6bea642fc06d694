"""Multi-scale deformable attention: a few weighted samples of several feature maps for each query and head."""

from __future__ import annotations

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.deformable import reference  # noqa: E402
from rocm3d_kernels.deformable.arguments import DTYPES, REFERENCE, check  # noqa: E402
from rocm3d_kernels.dispatch import choose  # noqa: E402
from rocm3d_kernels.registration import _traced, operation  # noqa: E402

__all__ = ["deformable_attention", "gradients"]


def deformable_attention(
    value: torch.Tensor,
    shapes: torch.Tensor,
    starts: torch.Tensor,
    locations: torch.Tensor,
    weights: torch.Tensor,
) -> torch.Tensor:
    """[N, Q, M * D] of values [N, S, M, D], sampled at locations [N, Q, M, L, P, 2] and weighted by [N, Q, M, L, P].

    `shapes` [L, 2] holds height and width of each level, `starts` [L] where it begins among the S places; both are
    integers. Locations are x and y from 0 to 1 over the level; outside it, and where one is not finite, is nothing.
    """
    check(value, shapes, starts, locations, weights)
    tensors = _contiguous(value, shapes, starts, locations, weights)
    learned = value.requires_grad or locations.requires_grad or weights.requires_grad
    # A step of autograd takes longer than a decoder's kernel.
    direct = not (learned and torch.is_grad_enabled()) and not _traced(tensors)
    result: torch.Tensor = (_attend_run if direct else _attend)(*tensors)
    return result


def gradients(
    value: torch.Tensor,
    shapes: torch.Tensor,
    starts: torch.Tensor,
    locations: torch.Tensor,
    weights: torch.Tensor,
    given: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Of values, locations and weights, for the gradient [N, Q, M * D] of the result."""
    check(value, shapes, starts, locations, weights, given)
    found: tuple[torch.Tensor, torch.Tensor, torch.Tensor] = _gradients(
        *(one.detach() for one in _contiguous(value, shapes, starts, locations, weights, given))
    )
    return found


def _contiguous(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple([one.contiguous() for one in tensors])


def _attend_run(
    value: torch.Tensor, shapes: torch.Tensor, starts: torch.Tensor, locations: torch.Tensor, weights: torch.Tensor
) -> torch.Tensor:
    given = (value, shapes, starts, locations, weights)
    implementation = choose("deformable", *given, kernel=DTYPES, reference=REFERENCE)
    if not (value.numel() and weights.numel()):
        return value.new_zeros((value.shape[0], locations.shape[1], value.shape[2] * value.shape[3]))
    if implementation == "reference":
        return reference.attend(*given)
    from rocm3d_kernels.deformable import launch

    return launch.forward(*given)


def _gradients_run(
    value: torch.Tensor,
    shapes: torch.Tensor,
    starts: torch.Tensor,
    locations: torch.Tensor,
    weights: torch.Tensor,
    given: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    tensors = (value, shapes, starts, locations, weights, given)
    implementation = choose("deformable", *tensors, kernel=DTYPES, reference=REFERENCE)
    if not (value.numel() and weights.numel()):
        return torch.zeros_like(value), torch.zeros_like(locations), torch.zeros_like(weights)
    if implementation == "reference":
        return reference.gradients(*tensors)
    from rocm3d_kernels.deformable import launch

    return launch.backward(*tensors)


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
