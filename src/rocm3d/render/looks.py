"""Backend checks as text, shared by all text formats."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.golden import ComparedTensor
    from rocm3d.model.look import NumericCheck, BackendCheck, Smoke

ORDER = ("accelerated", "fallback", "broken", "absent", "not_run")


def seen(look: BackendCheck) -> str:
    """One line: the reason of the outcome, or the evidence that the GPU backend ran."""
    if look.outcome != "accelerated":
        return look.reason
    parts = [look.reason] if look.reason else []
    if look.libraries:
        parts.append(
            PurePath(look.libraries[0]).name + (f" and {len(look.libraries) - 1} more" * (len(look.libraries) > 1))
        )
    if look.backends:
        parts.append(f"kernels: {', '.join(look.backends)}")
    parts += [f"{len(look.checks)} results agree, largest error {_worst(look)}"] if look.checks else []
    return "; ".join(parts)


def details(look: BackendCheck) -> list[str]:
    """Variants that were tried, and the device."""
    kinds = look.facts.get("kinds")
    lines = [_kind(name, tried) for name, tried in kinds.items()] if isinstance(kinds, dict) else []
    device = look.facts.get("device")
    if isinstance(device, str):
        build = f"HIP {look.facts['hip']}" if look.facts.get("hip") else f"CUDA {look.facts.get('cuda')}"
        lines.append(f"{device} ({look.facts.get('architecture')}), {look.facts.get('version')}, {build}")
    return lines


def compared(item: ComparedTensor) -> str:
    """The comparison of one tensor in two recordings."""
    if not item.agrees or item.max_error is None:
        return item.reason or "equal"
    return f"largest error {item.max_error:.3g}, within {item.tolerance} ({item.elements} elements of {item.dtype})"


def totals(document: Smoke) -> str:
    """Counts by outcome."""
    found = Counter(str(look.outcome) for look in document.backend_checks)
    return ", ".join(f"{found[outcome]} {outcome}" for outcome in ORDER)


def _kind(name: str, tried: dict[str, object]) -> str:
    if not tried.get("works"):
        return f"{name}: not available: {tried.get('reason')}"
    backends = tried.get("backends")
    return f"{name}: works" + (f", {', '.join(backends)}" if isinstance(backends, (list, tuple)) else "")


def _worst(look: BackendCheck) -> str:
    """The largest error with its tolerance; checks for equality have none."""
    measured: list[tuple[float, NumericCheck]] = [(item.max_error, item) for item in look.checks if item.max_error is not None]
    if not measured:
        return "0"
    error, check = max(measured, key=lambda pair: pair[0])
    return f"{error:.2g} ({check.tolerance})"
