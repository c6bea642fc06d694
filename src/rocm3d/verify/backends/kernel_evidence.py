"""Corrects the outcome of a backend check by the kernels that ran: a loaded library without kernels is a fallback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocm3d.knowledge.base import backend_of_kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocm3d.model.backend import Backend
    from rocm3d.model.backend_check import BackendCheck


def with_kernel_evidence(backend_check: BackendCheck, backends: Mapping[str, Backend]) -> BackendCheck:
    """A copy with the backends that the kernel names belong to, and the outcome that follows from them."""
    if backend_check.kernels is None:
        return _without_profile(backend_check)
    kernel_backends = {name: backend_of_kernel(name, backends.values()) for name in backend_check.kernels}
    updated = backend_check.model_copy(
        update={"backends": _labels(kernel_backends.values()), "facts": _with_backends(backend_check.facts, backends)}
    )
    compute_kernels = {
        name: backend for name, backend in kernel_backends.items() if backend is None or backend.operation != "copy"
    }
    if backend_check.outcome not in ("accelerated", "fallback") or not backend_check.checks:
        return updated
    reason = _fallback_reason(backend_check, compute_kernels)
    if backend_check.outcome == "accelerated" and reason:
        return updated.model_copy(update={"outcome": "fallback", "reason": reason})
    if (
        backend_check.outcome == "fallback"
        and backend_check.evidence == "library"
        and _specific_backends(compute_kernels)
    ):
        # No library, but kernels of this package: compiled just in time, as with Triton.
        labels = ", ".join(_labels(_specific_backends(compute_kernels)))
        return updated.model_copy(update={"outcome": "accelerated", "reason": f"its kernels ran: {labels}"})
    return updated


def _without_profile(backend_check: BackendCheck) -> BackendCheck:
    """Without a profile a loaded library is still evidence; a check that relies on kernel names is not_run."""
    if (
        backend_check.outcome != "accelerated"
        or backend_check.evidence != "kernels"
        or not backend_check.facts.get("gpu")
    ):
        return backend_check
    reason = f"the kernels that ran are unknown: {backend_check.facts.get('profile', 'no profile')}"
    return backend_check.model_copy(update={"outcome": "not_run", "reason": reason})


def _with_backends(facts: dict[str, Any], backends: Mapping[str, Backend]) -> dict[str, Any]:
    """Adds the backends to each kind of attention that was checked separately."""
    attention_kinds = {
        kind: {**result, "backends": _labels(backend_of_kernel(name, backends.values()) for name in result["kernels"])}
        if isinstance(result.get("kernels"), list)
        else result
        for kind, result in facts.get("kinds", {}).items()
    }
    return {**facts, "kinds": attention_kinds} if attention_kinds else facts


def _fallback_reason(backend_check: BackendCheck, compute_kernels: Mapping[str, Backend | None]) -> str:
    if backend_check.evidence == "provider":
        return ""
    if not compute_kernels:
        return "only copies ran on the device"
    if backend_check.evidence == "kernels" and not _specific_backends(compute_kernels):
        return f"only kernels of plain torch ran: {', '.join(_labels(compute_kernels.values()))}"
    if backend_check.evidence == "library" and all(
        backend is not None and not backend.is_specific for backend in compute_kernels.values()
    ):
        labels = ", ".join(_labels(compute_kernels.values()))
        return f"its library is loaded, but only kernels of other libraries ran: {labels}"
    return ""


def _specific_backends(compute_kernels: Mapping[str, Backend | None]) -> list[Backend]:
    return [backend for backend in compute_kernels.values() if backend is not None and backend.is_specific]


def _labels(backends: Iterable[Backend | None]) -> tuple[str, ...]:
    return tuple(sorted({backend.backend if backend else "not known by name" for backend in backends}))
