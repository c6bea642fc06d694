"""Backend checks as text, shared by all text formats."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.backend_check import BackendCheck, ComparedTensor, NumericCheck, Smoke

OUTCOME_ORDER = ("accelerated", "fallback", "broken", "absent", "not_run")


def summary_line(result: BackendCheck) -> str:
    """One line: the reason of the outcome, or the evidence that the GPU backend ran."""
    if result.outcome != "accelerated":
        return result.reason
    parts = [result.reason] if result.reason else []
    if result.libraries:
        parts.append(
            PurePath(result.libraries[0]).name
            + (f" and {len(result.libraries) - 1} more" * (len(result.libraries) > 1))
        )
    if result.backends:
        parts.append(f"kernels: {', '.join(result.backends)}")
    parts += [f"{len(result.checks)} results agree, largest error {_largest_error(result)}"] if result.checks else []
    return "; ".join(parts)


def detail_lines(result: BackendCheck) -> list[str]:
    """Variants that were tried, and the device."""
    kinds = result.facts.get("kinds")
    lines = [_variant_line(name, tried) for name, tried in kinds.items()] if isinstance(kinds, dict) else []
    device = result.facts.get("device")
    if isinstance(device, str):
        build = f"HIP {result.facts['hip']}" if result.facts.get("hip") else f"CUDA {result.facts.get('cuda')}"
        lines.append(f"{device} ({result.facts.get('architecture')}), {result.facts.get('version')}, {build}")
    return lines


def tensor_line(tensor: ComparedTensor) -> str:
    """The comparison of one tensor in two recordings."""
    if not tensor.agrees or tensor.max_error is None:
        return tensor.reason or "equal"
    elements = f"{tensor.elements} elements of {tensor.dtype}"
    return f"largest error {tensor.max_error:.3g}, within {tensor.tolerance} ({elements})"


def totals(document: Smoke) -> str:
    """Counts by outcome."""
    outcomes = Counter(str(check.outcome) for check in document.backend_checks)
    return ", ".join(f"{outcomes[outcome]} {outcome}" for outcome in OUTCOME_ORDER)


def _variant_line(name: str, attempt: dict[str, object]) -> str:
    if not attempt.get("works"):
        return f"{name}: not available: {attempt.get('reason')}"
    backends = attempt.get("backends")
    return f"{name}: works" + (f", {', '.join(backends)}" if isinstance(backends, (list, tuple)) else "")


def _largest_error(result: BackendCheck) -> str:
    """The largest error with its tolerance; checks for equality have none."""
    measured: list[tuple[float, NumericCheck]] = [
        (item.max_error, item) for item in result.checks if item.max_error is not None
    ]
    if not measured:
        return "0"
    error, check = max(measured, key=lambda pair: pair[0])
    return f"{error:.2g} ({check.tolerance})"
