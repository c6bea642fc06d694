"""The shortest way from the requirements to something that somebody asked for."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.verify.resolution.answer import Edge


def chain_to(name: str, edges: Iterable[Edge], wanted: str = "") -> str:
    """`a -> b -> name`, as far as the edges tell; `wanted` is put behind the name."""
    return " -> ".join([*_way(name, list(edges)), f"{name}{wanted}"])


def _way(name: str, edges: list[Edge]) -> list[str]:
    """Who stands before the name, first the one that the requirements name."""
    askers: dict[str, list[str]] = {}
    for edge in edges:
        askers.setdefault(edge.name, []).append(edge.asker)
    queue: deque[tuple[str, ...]] = deque([(name,)])
    seen = {name}
    best: tuple[str, ...] = (name,)
    while queue:
        way = queue.popleft()
        best = way if len(way) > len(best) else best
        for asker in askers.get(way[0], []):
            if not asker:
                return list(way[:-1])
            if asker not in seen:
                seen.add(asker)
                queue.append((asker, *way))
    return list(best[:-1])
