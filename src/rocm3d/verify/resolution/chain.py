"""The shortest dependency chain from the requirements to a package."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.verify.resolution.answer import Edge


def chain_to(name: str, edges: Iterable[Edge], wanted: str = "") -> str:
    """`a -> b -> name`, as far as the edges are known. `specifier` is appended to the name."""
    return " -> ".join([*_way(name, list(edges)), f"{name}{wanted}"])


def _way(name: str, edges: list[Edge]) -> list[str]:
    """The packages before `name`, starting with a direct requirement. Breadth-first search over reversed edges."""
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
