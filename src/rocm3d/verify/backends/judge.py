"""Corrects the outcome of a backend check by the kernels that ran: a loaded library without kernels is a fallback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocm3d.knowledge.kernels import backend_of_kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocm3d.model.backend import Backend
    from rocm3d.model.look import BackendCheck


def judged(look: BackendCheck, backends: Mapping[str, Backend]) -> BackendCheck:
    """A copy with the backends that the kernel names belong to, and the outcome that follows from them."""
    if look.kernels is None:
        return _unseen(look)
    named = {name: backend_of_kernel(name, backends.values()) for name in look.kernels}
    seen = look.model_copy(update={"backends": _labels(named.values()), "facts": _with_backends(look.facts, backends)})
    work = {name: backend for name, backend in named.items() if backend is None or backend.operation != "copy"}
    if look.outcome not in ("accelerated", "fallback") or not look.checks:
        return seen
    reason = _why_slow(look, work)
    if look.outcome == "accelerated" and reason:
        return seen.model_copy(update={"outcome": "fallback", "reason": reason})
    if look.outcome == "fallback" and look.evidence == "library" and _specific(work):
        # No library, but kernels of this package: compiled just in time, as with Triton.
        kinds = ", ".join(_labels(_specific(work)))
        return seen.model_copy(update={"outcome": "accelerated", "reason": f"its kernels ran: {kinds}"})
    return seen


def _unseen(look: BackendCheck) -> BackendCheck:
    """Without a profile a loaded library is still evidence; a check that relies on kernel names is not_run."""
    if look.outcome != "accelerated" or look.evidence != "kernels" or not look.facts.get("gpu"):
        return look
    reason = f"the kernels that ran are unknown: {look.facts.get('profile', 'no profile')}"
    return look.model_copy(update={"outcome": "not_run", "reason": reason})


def _with_backends(facts: dict[str, Any], backends: Mapping[str, Backend]) -> dict[str, Any]:
    """Adds the backends to each kind of attention that was checked separately."""
    kinds = {
        kind: {**tried, "backends": _labels(backend_of_kernel(name, backends.values()) for name in tried["kernels"])}
        if isinstance(tried.get("kernels"), list)
        else tried
        for kind, tried in facts.get("kinds", {}).items()
    }
    return {**facts, "kinds": kinds} if kinds else facts


def _why_slow(look: BackendCheck, work: Mapping[str, Backend | None]) -> str:
    if look.evidence == "provider":
        return ""
    if not work:
        return "only copies ran on the device"
    if look.evidence == "kernels" and not _specific(work):
        return f"only kernels of plain torch ran: {', '.join(_labels(work.values()))}"
    if look.evidence == "library" and all(backend is not None and not backend.is_specific for backend in work.values()):
        return f"its library is loaded, but only kernels of other libraries ran: {', '.join(_labels(work.values()))}"
    return ""


def _specific(work: Mapping[str, Backend | None]) -> list[Backend]:
    return [backend for backend in work.values() if backend is not None and backend.is_specific]


def _labels(backends: Iterable[Backend | None]) -> tuple[str, ...]:
    return tuple(sorted({backend.backend if backend else "not known by name" for backend in backends}))
