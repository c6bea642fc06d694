"""A first word on how far a repository is from running on ROCm, before any GPU is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.model.inventory import Dependency, Readiness


def readiness(
    findings: Sequence[Finding], dependencies: Sequence[Dependency], knowledge: Knowledge
) -> tuple[Readiness, tuple[str, ...]]:
    """The state and the reasons that decided it."""
    named = sorted({item.package for item in dependencies if item.package})
    hopeless = [
        name
        for name in named
        if all(r.decision == "blocked" for r in knowledge.packages[name].routes if r.status == "active")
    ]
    if hopeless:
        return "blocked", tuple(f"{name} has no route to ROCm" for name in hopeless)
    serious = [finding for finding in findings if finding.severity != "note"]
    # How to install is a matter of dependencies, whoever has to settle it; the program itself needs no edit for it.
    edits = [f for f in serious if not f.is_dependency and knowledge.codes[f.code].answered_by != "decision"]
    if edits:
        rules = sorted({finding.rule for finding in edits})
        return "needs-edits", tuple(f"{rule}: {sum(f.rule == rule for f in edits)}" for rule in rules)
    if serious:
        return "ready-with-deps", tuple(f"{name} needs another source" for name in named) or (
            "install lines name CUDA",
        )
    return "ready", ("nothing CUDA-first was found",)
