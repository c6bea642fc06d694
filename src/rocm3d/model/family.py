"""A family of dependencies that fail on ROCm for the same reason."""

from __future__ import annotations

from rocm3d.model.source import Fact, Identifier


class Family(Fact):
    """A file of knowledge/families/."""

    id: Identifier
    title: str
    fails_by: str
    try_first: str
    evidence: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
