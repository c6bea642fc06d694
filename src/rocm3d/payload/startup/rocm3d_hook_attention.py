"""Counts which SDPA backend torch's scaled_dot_product_attention uses; torch is queried once per kind of input."""

from __future__ import annotations

from typing import Any

from rocm3d_hook_tools import safely

SDPA_BACKENDS = {0: "math", 1: "flash", 2: "efficient", 3: "cudnn", 4: "overrideable"}


class Attention:
    """Counts calls by SDPA backend, device and dtype."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str, str], int] = {}
        self.known: dict[object, tuple[str, str, str]] = {}

    def watch(self, torch: Any) -> None:
        """Wrap torch's function. torch.compile and tracers see the original."""
        original = getattr(torch.nn.functional, "scaled_dot_product_attention", None)
        choose = getattr(torch, "_fused_sdp_choice", None)
        if original is None or choose is None:
            return

        allowed = torch.backends.cuda
        modes = getattr(torch._C, "_len_torch_dispatch_stack", int)
        enabled = [
            getattr(allowed, f"{name}_sdp_enabled", bool) for name in ("flash", "mem_efficient", "math", "cudnn")
        ]

        def attention(query: Any, key: Any, value: Any, *more: Any, **kwargs: Any) -> Any:
            # Tracers would record the query as part of the program.
            if isinstance(query, torch.Tensor) and not torch.compiler.is_compiling() and not modes():
                self._count(choose, (query, key, value, *more), kwargs, tuple(is_enabled() for is_enabled in enabled))
            return original(query, key, value, *more, **kwargs)

        attention.__doc__, attention.__name__ = original.__doc__, "scaled_dot_product_attention"
        # pickle finds functions by module and qualified name.
        attention.__qualname__, attention.__module__ = attention.__name__, torch.nn.functional.__name__
        safely(lambda: _register_script(torch, attention, original))
        torch.nn.functional.scaled_dot_product_attention = attention

    def summary(self) -> list[dict[str, Any]]:
        """Calls per backend, device and dtype, for a status event."""
        return [
            {"way": backend, "device": device, "dtype": dtype, "calls": count}
            for (backend, device, dtype), count in sorted(self.calls.copy().items())
        ]

    def _count(self, choose: Any, args: tuple[Any, ...], kwargs: dict[str, Any], allowed: tuple[bool, ...]) -> None:
        try:
            key = (*_call_key(args, kwargs), allowed, *kwargs)
            call = self.known.get(key) or self._query_backend(choose, args, kwargs)
        except Exception:  # noqa: BLE001  (nested tensors have no shape; invalid calls raise their error in the original)
            return
        self.known[key] = call
        self.calls[call] = self.calls.get(call, 0) + 1

    def _query_backend(self, choose: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, str, str]:
        query = args[0]
        number = int(choose(*args, **kwargs))
        return (
            SDPA_BACKENDS.get(number, f"backend {number}"),
            query.device.type,
            str(query.dtype).removeprefix("torch."),
        )


def _register_script(torch: Any, attention: Any, original: Any) -> None:
    """Let TorchScript compile a call of the wrapper to the same operator as the original."""
    known = torch.jit._builtins
    known._register_builtin(attention, known._find_builtin(original))


def _call_key(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[object, ...]:
    """Properties of a call that decide the backend; used as a cache key."""
    query = args[0]
    tensors = (
        (tuple(argument.shape), argument.stride()) if hasattr(argument, "stride") else argument
        for argument in (*args, *kwargs.values())
    )
    return (*tensors, query.dtype, query.device.type, query.requires_grad)
