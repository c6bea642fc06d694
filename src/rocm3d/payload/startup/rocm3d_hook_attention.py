"""Which way torch's own attention takes, asked of torch itself for every kind of input once."""

from __future__ import annotations

from typing import Any

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
        ways = [getattr(allowed, f"{way}_sdp_enabled", bool) for way in ("flash", "mem_efficient", "math", "cudnn")]

        def attention(query: Any, key: Any, value: Any, *more: Any, **named: Any) -> Any:
            if not torch.compiler.is_compiling():
                self._count(choose, (query, key, value, *more), named, tuple(way() for way in ways))
            return original(query, key, value, *more, **named)

        attention.__doc__, attention.__name__ = original.__doc__, "scaled_dot_product_attention"
        torch.nn.functional.scaled_dot_product_attention = attention

    def told(self) -> list[dict[str, Any]]:
        """Of each way, how often."""
        return [
            {"way": way, "device": device, "dtype": dtype, "calls": count}
            for (way, device, dtype), count in sorted(self.calls.copy().items())
        ]

    def _count(self, choose: Any, given: tuple[Any, ...], named: dict[str, Any], allowed: tuple[bool, ...]) -> None:
        query = given[0]
        about = [
            (tuple(item.shape), item.stride()) if hasattr(item, "stride") else item
            for item in (*given, *named.values())
        ]
        place = (*about, query.dtype, query.device.type, query.requires_grad, allowed, *named)
        try:
            way = self.known.get(place) or self._asked(choose, given, named)
        except Exception:  # noqa: BLE001  (the call itself will say what is wrong with it)
            return
        self.known[place] = way
        self.calls[way] = self.calls.get(way, 0) + 1

    def _asked(self, choose: Any, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[str, str, str]:
        query = given[0]
        number = int(choose(*given, **named))
        return WAYS.get(number, f"way {number}"), query.device.type, str(query.dtype).removeprefix("torch.")
