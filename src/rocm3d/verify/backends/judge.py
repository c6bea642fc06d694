"""What kernel names say about a look: a loaded library that no kernel came from is a fallback all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocm3d.knowledge.kernels import of_kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocm3d.model.backend import Backend
    from rocm3d.model.look import Look


def judged(look: Look, backends: Mapping[str, Backend]) -> Look:
    """The look with the backends that its kernels betray, and the outcome that follows from them."""
    if look.kernels is None:
        return _unseen(look)
    named = {name: of_kernel(name, backends.values()) for name in look.kernels}
    seen = look.model_copy(update={"backends": _labels(named.values()), "facts": _with_backends(look.facts, backends)})
    work = {name: backend for name, backend in named.items() if backend is None or backend.operation != "copy"}
    if look.outcome not in ("accelerated", "fallback") or not look.checks:
        return seen
    reason = _why_slow(look, work)
    if look.outcome == "accelerated" and reason:
        return seen.model_copy(update={"outcome": "fallback", "reason": reason})
    if look.outcome == "fallback" and look.evidence == "library" and _specific(work):
        # No library, but kernels of its own: they were compiled on the way, as Triton's are.
        kinds = ", ".join(_labels(_specific(work)))
        return seen.model_copy(update={"outcome": "accelerated", "reason": f"by its kernels: {kinds}"})
    return seen


def _unseen(look: Look) -> Look:
    """Without a profile a library still shows something; what only kernel names could show is not known."""
    if look.outcome != "accelerated" or look.evidence != "kernels" or not look.facts.get("gpu"):
        return look
    reason = f"which kernels ran cannot be seen: {look.facts.get('profile', 'no profile')}"
    return look.model_copy(update={"outcome": "not_run", "reason": reason})


def _with_backends(facts: dict[str, Any], backends: Mapping[str, Backend]) -> dict[str, Any]:
    """Of each kind of attention that was tried alone, too."""
    kinds = {
        kind: {**tried, "backends": _labels(of_kernel(name, backends.values()) for name in tried["kernels"])}
        if isinstance(tried.get("kernels"), list)
        else tried
        for kind, tried in facts.get("kinds", {}).items()
    }
    return {**facts, "kinds": kinds} if kinds else facts


def _why_slow(look: Look, work: Mapping[str, Backend | None]) -> str:
    if look.evidence == "provider":
        return ""
    if not work:
        return "nothing but copies ran on the device"
    if look.evidence == "kernels" and not _specific(work):
        return f"the kernels that ran are those of plain torch: {', '.join(_labels(work.values()))}"
    if look.evidence == "library" and all(backend is not None and not backend.is_specific for backend in work.values()):
        return f"its library is loaded, but the kernels that ran are not its own: {', '.join(_labels(work.values()))}"
    return ""


def _specific(work: Mapping[str, Backend | None]) -> list[Backend]:
    return [backend for backend in work.values() if backend is not None and backend.is_specific]


def _labels(backends: Iterable[Backend | None]) -> tuple[str, ...]:
    return tuple(sorted({backend.backend if backend else "not known by name" for backend in backends}))
