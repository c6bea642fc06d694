"""Faults of a resolution: another torch, or CUDA packages. The names come from the knowledge base."""

from __future__ import annotations

from collections import deque
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.verify.resolution.base import StackBase
    from rocm3d.verify.resolution.resolver import DependencyEdge, Resolution, ResolvedPackage


def is_cuda_package(name: str, knowledge: Knowledge) -> bool:
    """Whether a distribution belongs to CUDA, by the `foreign` patterns of package records."""
    patterns = [mark for package in knowledge.packages.values() for mark in package.foreign]
    exceptions = {mark[1:] for mark in patterns if mark.startswith("!")}
    return name not in exceptions and any(fnmatchcase(name, mark) for mark in patterns)


def find_faults(resolution: Resolution, base: StackBase, knowledge: Knowledge) -> list[str]:
    """Distributions that a port must not install, each with the dependency chain that leads to it."""
    resolved_versions = {item.name: item.version for item in resolution.packages}
    edges = [
        edge for edge in resolution.edges if not edge.parent or resolved_versions.get(edge.parent) in ("", edge.version)
    ]
    texts = []
    for item in resolution.packages:
        fault = _describe_fault(item, base, knowledge)
        if fault:
            texts.append(f"{fault} ({chain_to(item.name, edges)})")
    return texts


def _describe_fault(item: ResolvedPackage, base: StackBase, knowledge: Knowledge) -> str:
    label = f"{item.name} {item.version}".strip()
    if item.name in base.versions:
        return "" if item.version == base.versions[item.name] else f"{label} is not the stack's version"
    package = knowledge.package_by_pip(item.name)
    if package is not None and package.id in base.packages:
        return f"{label} would overwrite the stack's {package.id}"
    return f"{label} is a CUDA package" if is_cuda_package(item.name, knowledge) else ""


def conflicts_with_base(resolution: Resolution, base: StackBase) -> list[str]:
    """Dependency chains of packages of which no version accepts the stack's version of a base package."""
    specifiers: dict[tuple[str, str], dict[str, list[str]]] = {}
    for edge in resolution.edges:
        if edge.name in base.versions:
            specifiers.setdefault((edge.parent, edge.name), {}).setdefault(edge.version, []).append(edge.specifier)
    conflicts = []
    for (parent, name), releases in specifiers.items():
        unsatisfied = [
            _unsatisfied_specifier(release_specifiers, base.versions[name]) for release_specifiers in releases.values()
        ]
        if all(unsatisfied):
            chain = chain_to(parent, resolution.edges) if parent else "the requirements"
            conflicts.append(f"{chain} -> {name}{unsatisfied[0]}")
    return conflicts


def _unsatisfied_specifier(specifiers: list[str], version: str) -> str:
    """The first specifier that excludes the version; empty if none does."""
    return next(
        (specifier for specifier in specifiers if not any(_allows(part, version) for part in specifier.split("|"))), ""
    )


def _allows(specifier: str, version: str) -> bool:
    try:
        return SpecifierSet(specifier).contains(version, prereleases=True)
    except InvalidSpecifier:
        return False


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
