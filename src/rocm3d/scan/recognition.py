"""Recognises known repositories by characteristic files, never by the folder name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.port import Port


def recognised_port(
    paths: Iterable[str], knowledge: Knowledge, read: Callable[[str], bytes | None] = lambda _: None
) -> str | None:
    """The id of the port whose characteristic files all exist; of several, the one with the most of them.

    `read` returns the content of a file: forks with equal files differ by a text in one of them.
    """
    existing_paths = frozenset(paths)
    matches = [
        port
        for port in knowledge.ports.values()
        if port.marks and existing_paths.issuperset(port.marks) and _has_texts(port, existing_paths, read)
    ]
    return max(matches, key=lambda port: (len(port.marks) + len(port.mark_texts), port.id)).id if matches else None


def _has_texts(port: Port, paths: frozenset[str], read: Callable[[str], bytes | None]) -> bool:
    return all(path in paths and text.encode() in (read(path) or b"") for path, text in port.mark_texts.items())
