"""Which known repository a tree is, if any: by files that only it has, never by the name of the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.knowledge.base import Knowledge


def known_as(paths: Iterable[str], knowledge: Knowledge) -> str | None:
    """The port whose marks are all here; the one with most marks where several match."""
    there = frozenset(paths)
    matches = [port for port in knowledge.ports.values() if port.marks and there.issuperset(port.marks)]
    return max(matches, key=lambda port: (len(port.marks), port.id)).id if matches else None
