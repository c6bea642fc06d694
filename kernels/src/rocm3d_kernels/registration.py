"""Registers an operation as a torch.library operator with a fake kernel and autograd, and as a fast eager function.

torch.compile, export and fake tensors use the operator. Plain eager calls use a torch.autograd.Function made of the
same parts: for a small operation the dispatch of the operator takes longer than the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rocm3d_kernels.versions import require

torch: Any = require("torch")

NAMESPACE = "rocm3d_kernels"
PLAIN_TYPES = frozenset((torch.Tensor, torch.nn.Parameter, bool, int, float, str, type(None)))


def operation(
    run: Callable[..., Any],
    fake: Callable[..., Any],
    *,
    name: str = "",
    keep: Callable[[Any, tuple[Any, ...], Any], None] | None = None,
    backward: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """`torch.ops.rocm3d_kernels.<name>` and the function to call.

    `run` has annotations that torch.library can read as a schema, and does not modify its arguments. `keep(ctx, inputs,
    output)` saves tensors for `backward(ctx, *gradients)`; signatures as of torch.library.register_autograd.
    """
    operator = torch.library.custom_op(f"{NAMESPACE}::{name or run.__name__}", run, mutates_args=())
    operator.register_fake(fake)
    eager = run
    if backward is not None:
        operator.register_autograd(backward, setup_context=keep)
        eager = _autograd_function(name or run.__name__, run, keep, backward).apply

    def call(*arguments: Any) -> Any:
        return operator(*arguments) if is_traced(arguments) else eager(*arguments)

    call.__name__, call.__doc__ = name or run.__name__, run.__doc__
    return call


def _autograd_function(name: str, run: Callable[..., Any], keep: Any, backward: Callable[..., Any]) -> Any:
    def forward(ctx: Any, *arguments: Any) -> Any:
        output = run(*arguments)
        keep(ctx, arguments, output)
        return output

    # forward(ctx, ...) instead of setup_context: with the latter torch inspects the signature at each call, 40 us.
    members = {"forward": staticmethod(forward), "backward": staticmethod(once_differentiable(backward))}
    return type(name, (torch.autograd.Function,), members)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """torch's once_differentiable, applied only if grad mode is on in backward: its check takes time."""
    checked_backward = torch.autograd.function.once_differentiable(backward)

    def once(ctx: Any, *gradients: Any) -> Any:
        return (checked_backward if torch.is_grad_enabled() else backward)(ctx, *gradients)

    return once


def is_traced(arguments: tuple[Any, ...]) -> bool:
    """Whether the call is being compiled or traced, or has tensor subclasses such as fake tensors."""
    if torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0:
        return True
    if PLAIN_TYPES.issuperset(map(type, arguments)):
        return False
    return any(type(argument) not in PLAIN_TYPES and isinstance(argument, torch.Tensor) for argument in arguments)
