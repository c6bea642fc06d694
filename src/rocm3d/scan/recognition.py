"""Recognises known repositories by characteristic files, never by the folder name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.knowledge.base import Knowledge


def recognised_port(paths: Iterable[str], knowledge: Knowledge) -> str | None:
    """The id of the port whose characteristic files all exist; of several, the one with the most such files."""
    existing_paths = frozenset(paths)
    matches = [port for port in knowledge.ports.values() if port.marks and existing_paths.issuperset(port.marks)]
    return max(matches, key=lambda port: (len(port.marks), port.id)).id if matches else None
