"""Verdicts of level resolve, from resolutions: faults such as another torch or CUDA packages, and the download size."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from rocm3d.model.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.verdict import Verdict
    from rocm3d.verify.probe import Probe
    from rocm3d.verify.resolution.resolver import DependencyEdge, Resolution, ResolvedPackage
    from rocm3d.verify.resolution.session import ResolverSession, SetResolution, StackBase
    from rocm3d.verify.resolution.sets import ExcludedRequirement
    from rocm3d.workspace.web import WebClient


def excluded_verdicts(probe: Probe, excluded: Iterable[ExcludedRequirement]) -> list[Verdict]:
    """One not_run for each excluded distribution."""
    return [probe.verdict("not_run", f"{item.name}: {item.reason}") for item in dict.fromkeys(excluded)]


def set_verdicts(probe: Probe, set_resolution: SetResolution, session: ResolverSession) -> list[Verdict]:
    """The verdict on one set, then those on its excluded distributions. No verdict on a set that became empty."""
    excluded = excluded_verdicts(probe, set_resolution.excluded)
    return [_set_verdict(probe, set_resolution, session), *excluded] if set_resolution.prepared.lines else excluded


def _set_verdict(probe: Probe, set_resolution: SetResolution, session: ResolverSession) -> Verdict:
    resolution, source = set_resolution.resolution, set_resolution.prepared.source
    problem = resolution.problem
    if problem is not None and problem.kind == "conflict":
        conflicts = "; ".join(conflicts_with_base(resolution, session.base)) or problem.text
        return probe.verdict("failed", f"{source}: {conflicts}", [f"{source} by {session.label}"])
    if problem is not None:
        return probe.verdict("not_run", f"{source}: {problem.kind}: {problem.text}")
    download = _describe_download(set_resolution, session)
    if faults := find_faults(resolution, session.base, session.knowledge):
        return probe.verdict("failed", f"{source}: {'; '.join(faults)}", download)
    notes = _package_notes(set_resolution, session)
    return probe.verdict("passed", "", [*download, f"unchanged: {session.base.description}", *notes])


def _describe_download(set_resolution: SetResolution, session: ResolverSession) -> list[str]:
    """The download size without the stack's own distributions."""
    downloads = tuple(item for item in set_resolution.resolution.packages if item.name not in session.base.versions)
    download_size = measure_download(downloads, session.knowledge, session.web)
    return [
        f"{set_resolution.prepared.source}: {download_size}, in addition to the stack, by {session.label}",
        *set_resolution.prepared.notes,
    ]


def _package_notes(set_resolution: SetResolution, session: ResolverSession) -> list[str]:
    """Transitive packages that have a record but no decision, and packages without a wheel."""
    direct_names = {line.name for line in set_resolution.prepared.lines}
    packages = set_resolution.resolution.packages
    transitive = [
        item.name
        for item in packages
        if item.name not in {*session.base.versions, *direct_names} and session.knowledge.package_by_pip(item.name)
    ]
    source_builds = [f"{item.name} {item.version}" for item in packages if item.is_source]
    return [
        *([f"transitive dependencies that default to CUDA: {', '.join(transitive)}"] if transitive else []),
        *([f"no wheel, built from source: {', '.join(source_builds)}"] if source_builds else []),
    ]


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
    return [
        f"{fault} ({chain_to(item.name, edges)})"
        for item in resolution.packages
        if (fault := _describe_fault(item, base, knowledge))
    ]


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


@dataclass(frozen=True)
class DownloadSize:
    """`packages`: how many. `cuda_packages`: names. `unknown_sizes`: how many packages have no known size."""

    packages: int
    bytes: int
    cuda_packages: tuple[str, ...]
    cuda_bytes: int
    unknown_sizes: int

    def __str__(self) -> str:
        size = f"{counted(self.packages, 'package')}, {_format_bytes(self.bytes)}"
        of_cuda = (
            f"{len(self.cuda_packages)} of CUDA ({_format_bytes(self.cuda_bytes)})"
            if self.cuda_packages
            else "none of CUDA"
        )
        return f"{size}, {of_cuda}" + (f", {self.unknown_sizes} of unknown size" if self.unknown_sizes else "")


def measure_download(packages: tuple[ResolvedPackage, ...], knowledge: Knowledge, web: WebClient) -> DownloadSize:
    """Adds up sizes; downloads nothing."""
    server_sizes = web.sizes(
        item.url for item in packages if item.size is None and item.url.startswith(("http", "file:"))
    )
    sizes = {item.name: item.size if item.size is not None else server_sizes.get(item.url) for item in packages}
    cuda_packages = tuple(item.name for item in packages if is_cuda_package(item.name, knowledge))
    return DownloadSize(
        len(packages),
        sum(size or 0 for size in sizes.values()),
        cuda_packages,
        sum(sizes[name] or 0 for name in cuda_packages),
        sum(size is None for size in sizes.values()),
    )


def _format_bytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"
