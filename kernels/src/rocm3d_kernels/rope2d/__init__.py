"""Rotary position embedding in two dimensions (RoPE2D), in place or into a new tensor."""

from __future__ import annotations

import functools
from typing import Any

from rocm3d_kernels.versions import require

require("torch")

import torch  # noqa: E402

from rocm3d_kernels.arguments import check_number, check_tensors  # noqa: E402
from rocm3d_kernels.dispatch import choose  # noqa: E402
from rocm3d_kernels.registration import NAMESPACE, is_traced, operation  # noqa: E402
from rocm3d_kernels.rope2d import reference  # noqa: E402

__all__ = ["rotate", "rotate_"]

DTYPES = ("float32", "float16", "bfloat16")
REFERENCE = (*DTYPES, "float64")
MAX_HEAD_SIZE = 2**16


def rotate(tokens: torch.Tensor, positions: torch.Tensor, base: float = 100.0, scale: float = 1.0) -> torch.Tensor:
    """Tokens [B, N, H, D], D a multiple of 4, rotated by positions [B, N, 2] (y, x); differentiable in the tokens.

    Element i of a quarter of D and element i of the next quarter rotate by `scale * position / base ** (i / (D / 4))`:
    the first two quarters by y, the last two by x. A negative scale is the inverse rotation.
    """
    base, scale = _check_types(tokens, positions, base, scale)
    _check_arguments(tokens, positions, traced=is_traced((tokens, positions)))
    result: torch.Tensor = _rotate(tokens, positions, base, scale)
    return result


def rotate_(tokens: torch.Tensor, positions: torch.Tensor, base: float = 100.0, scale: float = 1.0) -> torch.Tensor:
    """`rotate` in place, for any strides; differentiable like other in-place functions."""
    base, scale = _check_types(tokens, positions, base, scale)
    traced = is_traced((tokens, positions))
    _check_arguments(tokens, positions, traced=traced, in_place=True)
    if tokens.requires_grad and torch.is_grad_enabled():
        result: torch.Tensor = _RotateInPlace.apply(tokens, positions, base, scale)
        return result
    (_rotate_in_place if traced else _run_in_place)(tokens, positions, base, scale)
    return tokens


def _check_types(tokens: torch.Tensor, positions: torch.Tensor, base: Any, scale: Any) -> tuple[float, float]:
    """`base` and `scale` as floats."""
    check_tensors("rope2d", {"tokens": tokens, "positions": positions})
    if tokens.device != positions.device:
        raise ValueError(
            f"rope2d: tensors are on different devices: tokens on {tokens.device}, positions on {positions.device}"
        )
    return check_number("rope2d", "base", base, above=0.0), check_number("rope2d", "scale", scale)


def _check_arguments(tokens: torch.Tensor, positions: torch.Tensor, *, traced: bool, in_place: bool = False) -> None:
    # Under tracing, sizes are symbolic and not hashable, so the cache is bypassed.
    check_layout = _check_layout.__wrapped__ if traced else _check_layout
    check_layout(tokens.shape, tokens.stride() if in_place else None, positions.shape, positions.dtype)


@functools.lru_cache(maxsize=256)
def _check_layout(
    tokens: tuple[int, ...], strides: tuple[int, ...] | None, positions: tuple[int, ...], dtype: torch.dtype
) -> None:
    """Cached: the same sizes recur, and the kernel may take less time than this check."""
    if len(tokens) != 4 or tokens[3] % 4:
        raise ValueError(f"rope2d: tokens must be [B, N, H, D] with D a multiple of 4, not {tuple(tokens)}")
    if tuple(positions) != (tokens[0], tokens[1], 2):
        raise ValueError(
            f"rope2d: positions for tokens [B, N, H, D] of {tuple(tokens)} must be {(tokens[0], tokens[1], 2)}, "
            f"not {tuple(positions)}; transpose tokens [B, H, N, D] first"
        )
    if dtype not in (torch.int64, torch.int32):
        raise TypeError(f"rope2d: positions must be int64 or int32, not {dtype}")
    if tokens[3] > MAX_HEAD_SIZE:
        raise ValueError(f"rope2d: head size {tokens[3]} is too large; the limit is {MAX_HEAD_SIZE}")
    if strides is not None and 0 not in tokens:
        _check_no_overlap(tokens, strides)


def _check_no_overlap(tokens: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """Raises if elements share memory: by ascending stride, each must exceed the extent of all smaller dimensions."""
    extent = 0
    for stride, size in sorted(zip(strides, tokens, strict=True)):
        if size > 1:
            if stride <= extent:
                raise ValueError(
                    f"rope2d: tokens of shape {tuple(tokens)} and strides {strides} overlap in memory "
                    "and cannot be rotated in place; clone() them first"
                )
            extent += stride * (size - 1)


def _run_in_place(tokens: torch.Tensor, positions: torch.Tensor, base: float, scale: float) -> None:
    implementation = choose("rope2d", tokens, positions, kernel=DTYPES, reference=REFERENCE)
    if tokens.numel() == 0:
        return
    if implementation == "reference":
        tokens.copy_(reference.rotate(tokens, positions, base, scale))
        return
    from rocm3d_kernels.rope2d import launch

    launch.rotate_(tokens, positions, base, scale)


class _RotateInPlace(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tokens: torch.Tensor, positions: torch.Tensor, base: float, scale: float) -> torch.Tensor:
        ctx.save_for_backward(positions)
        ctx.numbers = base, -scale
        _run_in_place(tokens, positions, base, scale)
        ctx.mark_dirty(tokens)
        return tokens

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
        # The gradient is the inverse rotation; not in place, as autograd may share the incoming gradient.
        return rotate(gradient, ctx.saved_tensors[0], *ctx.numbers), None, None, None


def _run(tokens: torch.Tensor, positions: torch.Tensor, base: float, scale: float) -> torch.Tensor:
    result = tokens.detach().clone(memory_format=torch.contiguous_format)
    _run_in_place(result, positions, base, scale)
    return result


def _save_for_backward(ctx, inputs, output) -> None:  # type: ignore[no-untyped-def]  # noqa: ARG001
    ctx.save_for_backward(inputs[1])
    ctx.numbers = inputs[2], -inputs[3]


def _backward(ctx, gradient):  # type: ignore[no-untyped-def]
    return _rotate(gradient, ctx.saved_tensors[0], *ctx.numbers), None, None, None


_rotate = operation(
    _run,
    lambda tokens, *_: torch.empty_like(tokens, memory_format=torch.contiguous_format),
    name="rope2d",
    keep=_save_for_backward,
    backward=_backward,
)
_rotate_in_place = torch.library.custom_op(f"{NAMESPACE}::rope2d_", _run_in_place, mutates_args=("tokens",))
_rotate_in_place.register_fake(lambda *_: None)
