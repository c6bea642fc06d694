"""Looks at packages in words: what was seen of each, for any text format."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.golden import ComparedTensor
    from rocm3d.model.look import Check, Look, Smoke

ORDER = ("accelerated", "fallback", "broken", "absent", "not_run")


def seen(look: Look) -> str:
    """One line: why it came out so, or what shows that it is real."""
    if look.outcome != "accelerated":
        return look.reason
    parts = [look.reason] if look.reason else []
    if look.libraries:
        parts.append(
            PurePath(look.libraries[0]).name + (f" and {len(look.libraries) - 1} more" * (len(look.libraries) > 1))
        )
    if look.backends:
        parts.append(f"kernels of {', '.join(look.backends)}")
    parts += [f"{len(look.checks)} results agree, the worst {_worst(look)}"] if look.checks else []
    return "; ".join(parts)


def details(look: Look) -> list[str]:
    """What else there is to say of it."""
    kinds = look.facts.get("kinds")
    lines = [_kind(name, tried) for name, tried in kinds.items()] if isinstance(kinds, dict) else []
    device = look.facts.get("device")
    if isinstance(device, str):
        build = f"HIP {look.facts['hip']}" if look.facts.get("hip") else f"CUDA {look.facts.get('cuda')}"
        lines.append(f"{device} ({look.facts.get('architecture')}), {look.facts.get('version')}, {build}")
    return lines


def compared(item: ComparedTensor) -> str:
    """One tensor of two recordings."""
    if not item.agrees or item.max_error is None:
        return item.reason or "is equal"
    return f"greatest error {item.max_error:.3g}, within {item.tolerance} ({item.elements} elements of {item.dtype})"


def totals(document: Smoke) -> str:
    """How many came out how."""
    found = Counter(str(look.outcome) for look in document.looks)
    return ", ".join(f"{found[outcome]} {outcome}" for outcome in ORDER)


def _kind(name: str, tried: dict[str, object]) -> str:
    if not tried.get("works"):
        return f"{name}: not here: {tried.get('reason')}"
    backends = tried.get("backends")
    return f"{name}: works" + (f", {', '.join(backends)}" if isinstance(backends, (list, tuple)) else "")


def _worst(look: Look) -> str:
    """The check whose error is greatest; not one that has to be equal."""
    measured: list[tuple[float, Check]] = [(item.max_error, item) for item in look.checks if item.max_error is not None]
    if not measured:
        return "exactly"
    error, check = max(measured, key=lambda pair: pair[0])
    return f"by {error:.2g} ({check.tolerance})"
