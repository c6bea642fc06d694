"""Faults of a resolution: another torch, or CUDA packages. The names come from the knowledge base."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from rocm3d.verify.resolution.chain import chain_to

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.verify.resolution.answer import Resolution, Resolved
    from rocm3d.verify.resolution.base import Base


def is_foreign(name: str, knowledge: Knowledge) -> bool:
    """Whether a distribution belongs to CUDA, by the `foreign` patterns of package records."""
    marks = [mark for package in knowledge.packages.values() for mark in package.foreign]
    excepted = {mark[1:] for mark in marks if mark.startswith("!")}
    return name not in excepted and any(fnmatchcase(name, mark) for mark in marks)


def faults(resolution: Resolution, base: Base, knowledge: Knowledge) -> list[str]:
    """Distributions that a port must not install, each with the dependency chain that leads to it."""
    taken = {item.name: item.version for item in resolution.packages}
    edges = [edge for edge in resolution.edges if not edge.asker or taken.get(edge.asker) in ("", edge.version)]
    found = []
    for item in resolution.packages:
        what = _fault(item, base, knowledge)
        if what:
            found.append(f"{what} ({chain_to(item.name, edges)})")
    return found


def _fault(item: Resolved, base: Base, knowledge: Knowledge) -> str:
    named = f"{item.name} {item.version}".strip()
    if item.name in base.versions:
        return "" if item.version == base.versions[item.name] else f"{named} is not the stack's version"
    package = knowledge.package_by_pip(item.name)
    if package is not None and package.id in base.packages:
        return f"{named} would overwrite the stack's {package.id}"
    return f"{named} is a CUDA package" if is_foreign(item.name, knowledge) else ""


def other_bases(resolution: Resolution, base: Base) -> list[str]:
    """Dependency chains of packages of which no version accepts the stack's version of a base package."""
    tried: dict[tuple[str, str], dict[str, list[str]]] = {}
    for edge in resolution.edges:
        if edge.name in base.versions:
            tried.setdefault((edge.asker, edge.name), {}).setdefault(edge.version, []).append(edge.wanted)
    found = []
    for (asker, name), releases in tried.items():
        refused = [_refused(wishes, base.versions[name]) for wishes in releases.values()]
        if all(refused):
            way = chain_to(asker, resolution.edges) if asker else "the requirements"
            found.append(f"{way} -> {name}{refused[0]}")
    return found


def _refused(wishes: list[str], version: str) -> str:
    """The first specifier that excludes the version; empty if none does."""
    return next((wish for wish in wishes if not any(_allows(part, version) for part in wish.split("|"))), "")


def _allows(wanted: str, version: str) -> bool:
    try:
        return SpecifierSet(wanted).contains(version, prereleases=True)
    except InvalidSpecifier:
        return False
