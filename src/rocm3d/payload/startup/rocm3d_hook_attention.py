"""Which way torch's own attention takes, asked of torch itself for every kind of input once."""

from __future__ import annotations

from typing import Any

from rocm3d_hook_tools import safely

WAYS = {0: "math", 1: "flash", 2: "efficient", 3: "cudnn", 4: "overrideable"}


class Attention:
    """Counts calls by way, device and type."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str, str], int] = {}
        self.known: dict[object, tuple[str, str, str]] = {}

    def watch(self, torch: Any) -> None:
        """Wrap the one function; a compiler that traces sees the original."""
        original = getattr(torch.nn.functional, "scaled_dot_product_attention", None)
        choose = getattr(torch, "_fused_sdp_choice", None)
        if original is None or choose is None:
            return

        allowed = torch.backends.cuda
        modes = getattr(torch._C, "_len_torch_dispatch_stack", int)
        ways = [getattr(allowed, f"{way}_sdp_enabled", bool) for way in ("flash", "mem_efficient", "math", "cudnn")]

        def attention(query: Any, key: Any, value: Any, *more: Any, **named: Any) -> Any:
            # Who traces a program writes down whatever is done, our question too.
            if isinstance(query, torch.Tensor) and not torch.compiler.is_compiling() and not modes():
                self._count(choose, (query, key, value, *more), named, tuple(way() for way in ways))
            return original(query, key, value, *more, **named)

        attention.__doc__, attention.__name__ = original.__doc__, "scaled_dot_product_attention"
        # Found again by pickle under the name that programs know.
        attention.__qualname__, attention.__module__ = attention.__name__, torch.nn.functional.__name__
        safely(lambda: _script(torch, attention, original))
        torch.nn.functional.scaled_dot_product_attention = attention

    def told(self) -> list[dict[str, Any]]:
        """Of each way, how often."""
        return [
            {"way": way, "device": device, "dtype": dtype, "calls": count}
            for (way, device, dtype), count in sorted(self.calls.copy().items())
        ]

    def _count(self, choose: Any, given: tuple[Any, ...], named: dict[str, Any], allowed: tuple[bool, ...]) -> None:
        try:
            place = (*_about(given, named), allowed, *named)
            way = self.known.get(place) or self._asked(choose, given, named)
        except Exception:  # noqa: BLE001  (nested tensors have no shape; and the call itself will say what is wrong)
            return
        self.known[place] = way
        self.calls[way] = self.calls.get(way, 0) + 1

    def _asked(self, choose: Any, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[str, str, str]:
        query = given[0]
        number = int(choose(*given, **named))
        return WAYS.get(number, f"way {number}"), query.device.type, str(query.dtype).removeprefix("torch.")


def _script(torch: Any, attention: Any, original: Any) -> None:
    """TorchScript compiles a call of ours to the operator behind it, as it does with torch's own."""
    known = torch.jit._builtins
    known._register_builtin(attention, known._find_builtin(original))


def _about(given: tuple[Any, ...], named: dict[str, Any]) -> tuple[object, ...]:
    """What torch decides by; two calls that agree in it go the same way."""
    query = given[0]
    tensors = (
        (tuple(item.shape), item.stride()) if hasattr(item, "stride") else item for item in (*given, *named.values())
    )
    return (*tensors, query.dtype, query.device.type, query.requires_grad)
