"""Makes one operation of its parts: a torch.library operator with a fake kernel and autograd, and a short way to it.

torch.compile, export and fake tensors go through the operator. Plain eager calls take a torch.autograd.Function made of
the same parts: on a small operation the operator's own way costs more time than the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rocm3d_kernels.versions import require

torch: Any = require("torch")

NAMESPACE = "rocm3d_kernels"
PLAIN = frozenset((torch.Tensor, torch.nn.Parameter, bool, int, float, str, type(None)))


def operation(
    run: Callable[..., Any],
    fake: Callable[..., Any],
    *,
    name: str = "",
    keep: Callable[[Any, tuple[Any, ...], Any], None] | None = None,
    backward: Callable[..., Any] | None = None,
) -> Callable[..., Any]:
    """`torch.ops.rocm3d_kernels.<name>` and the function to call.

    `run` has annotations that torch.library can read as a schema, and changes none of its arguments. `keep(ctx, inputs,
    output)` saves what `backward(ctx, *gradients)` needs; both as torch.library.register_autograd wants them.
    """
    operator = torch.library.custom_op(f"{NAMESPACE}::{name or run.__name__}", run, mutates_args=())
    operator.register_fake(fake)
    direct = run
    if backward is not None:
        operator.register_autograd(backward, setup_context=keep)
        direct = _function(name or run.__name__, run, keep, backward).apply

    def call(*given: Any) -> Any:
        return operator(*given) if _traced(given) else direct(*given)

    call.__name__, call.__doc__ = name or run.__name__, run.__doc__
    return call


def _function(name: str, run: Callable[..., Any], keep: Any, backward: Callable[..., Any]) -> Any:
    def forward(ctx: Any, *given: Any) -> Any:
        output = run(*given)
        keep(ctx, given, output)
        return output

    # The older form of the two: with setup_context torch reads the signature anew at each call, 40 microseconds.
    members = {"forward": staticmethod(forward), "backward": staticmethod(once_differentiable(backward))}
    return type(name, (torch.autograd.Function,), members)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """torch's refusal of gradients of gradients, where somebody may want them; elsewhere it only takes time."""
    refusing = torch.autograd.function.once_differentiable(backward)

    def once(ctx: Any, *given: Any) -> Any:
        return (refusing if torch.is_grad_enabled() else backward)(ctx, *given)

    return once


def _traced(given: tuple[Any, ...]) -> bool:
    """Whether somebody looks at the operators instead of running them."""
    if torch.compiler.is_compiling() or torch._C._len_torch_dispatch_stack() > 0:
        return True
    if PLAIN.issuperset(map(type, given)):
        return False
    return any(type(item) not in PLAIN and isinstance(item, torch.Tensor) for item in given)
