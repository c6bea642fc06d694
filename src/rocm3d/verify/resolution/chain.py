"""The shortest dependency chain from the requirements to a package."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.verify.resolution.resolver import DependencyEdge


def chain_to(name: str, edges: Iterable[DependencyEdge], specifier: str = "") -> str:
    """`a -> b -> name`, as far as the edges are known. `specifier` is appended to the name."""
    return " -> ".join([*_ancestors(name, list(edges)), f"{name}{specifier}"])


def _ancestors(name: str, edges: list[DependencyEdge]) -> list[str]:
    """The packages before `name`, starting with a direct requirement. Breadth-first search over reversed edges."""
    parents: dict[str, list[str]] = {}
    for edge in edges:
        parents.setdefault(edge.name, []).append(edge.parent)
    queue: deque[tuple[str, ...]] = deque([(name,)])
    visited = {name}
    longest: tuple[str, ...] = (name,)
    while queue:
        path = queue.popleft()
        longest = path if len(path) > len(longest) else longest
        for parent in parents.get(path[0], []):
            if not parent:
                return list(path[:-1])
            if parent not in visited:
                visited.add(parent)
                queue.append((parent, *path))
    return list(longest[:-1])
