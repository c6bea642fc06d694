"""The requirement sets of a tree and of a port, one for each file that users install from, prepared for a resolver."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rocm3d.manifest import requirements
from rocm3d.manifest.manifest import Mention, ParsedManifest, read_manifests
from rocm3d.manifest.requirements import is_constraints, is_requirements
from rocm3d.workspace.web import without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.manifest.manifest import InstallOption
    from rocm3d.verify.probe import Case
    from rocm3d.workspace.tree import Tree
    from rocm3d.workspace.web import WebClient

# Documentation, CI, lock files and the like: nobody installs from these.
_IGNORED_KINDS = frozenset({"markdown", "workflow", "makefile", "locks", "notebook", "cmake", "gitmodules"})
_URL = re.compile(r"(?:git|hg|svn|bzr)\+|https?://")
_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$")
_CONSTRAINT = re.compile(rb"\s*(-c|--constraint)")
MAX_SETS = 12
"""Limit of sets to resolve. Each takes seconds, and repositories with more have them for optional parts."""
_LOCAL = re.compile(r"(===?\s*[\w.!]+)\+[\w.]+")


@dataclass(frozen=True)
class RequirementLine:
    """One requirement. `url` is set if it names one instead of coming from an index."""

    name: str
    text: str
    url: str = ""


@dataclass(frozen=True)
class RequirementSet:
    """Requirements that are installed together. `urls`: further indexes and pages that the file names."""

    source: str
    lines: tuple[RequirementLine, ...]
    constraints: tuple[RequirementLine, ...] = ()
    urls: tuple[str, ...] = ()


def requirement_sets(tree: Tree, is_selected: Callable[[str], bool]) -> list[RequirementSet]:
    """The sets of the selected files, shallowest first. An included file belongs to the set that includes it."""
    manifests = {manifest.path: manifest for manifest in _manifests(tree) if is_selected(manifest.path)}
    included = {path for manifest in manifests.values() for path, _ in _includes(manifest)}
    sets: list[RequirementSet] = []
    read_paths: set[str] = set()
    # If files include each other, the shallowest is the root.
    for path in sorted(manifests, key=lambda path: (path in included, path.count("/"), path)):
        if path not in read_paths and not is_constraints(path):
            requirement_set, set_paths = _read_set(path, manifests, tree)
            read_paths |= set_paths
            sets += [requirement_set] if requirement_set.lines else []
    return sets


def read_lines(tree: Tree, path: str) -> tuple[RequirementLine, ...]:
    """The lines of one requirements file; empty if it does not exist."""
    data = tree.read(path) if path in tree else None
    mentions = () if data is None else requirements.read(path, data).mentions
    return tuple(line for mention in mentions if (line := to_line(mention)) is not None)


def _manifests(tree: Tree) -> Iterator[ParsedManifest]:
    for path in tree.paths():
        yield from read_manifests(path, tree.read, lambda kind: kind not in _IGNORED_KINDS)


def _read_set(root: str, manifests: dict[str, ParsedManifest], tree: Tree) -> tuple[RequirementSet, set[str]]:
    """The set of a file and its includes (`-r` requirements, `-c` constraints), and the paths that were read."""
    # Dictionaries keep the order and drop duplicates.
    lines: dict[RequirementLine, None] = {}
    constraints: dict[RequirementLine, None] = {}
    urls: dict[str, None] = {}
    queue, visited = [(root, False)], set[tuple[str, bool]]()
    while queue:
        path, is_constraints = queue.pop(0)
        manifest = manifests.get(path) or _read_included(path, tree)
        if manifest is None or (path, is_constraints) in visited:
            continue
        visited.add((path, is_constraints))
        file_lines = [line for mention in manifest.mentions if (line := to_line(mention)) is not None]
        (constraints if is_constraints else lines).update(dict.fromkeys(file_lines))
        urls |= dict.fromkeys(url for option in manifest.options for url in option.urls if _URL.match(url))
        queue += [
            (inner, is_constraints or includes_constraints) for inner, includes_constraints in _includes(manifest)
        ]
    return RequirementSet(root, tuple(lines), tuple(constraints), tuple(urls)), {path for path, _ in visited}


def _read_included(path: str, tree: Tree) -> ParsedManifest | None:
    """A file that no reader matches by name, but that a requirements file includes."""
    data = tree.read(path) if path in tree else None
    return None if data is None or b"\0" in data else requirements.read(path, data)


def _includes(manifest: ParsedManifest) -> list[tuple[str, bool]]:
    """Files that a requirements file includes, and whether as constraints. Files named in scripts are separate sets."""
    if manifest.kind != requirements.KIND:
        return []
    folder = posixpath.dirname(manifest.path)
    text = manifest.data.split(b"\n")
    return [
        (posixpath.normpath(posixpath.join(folder, name)), _is_constraint(text, option))
        for option in manifest.options
        for name in option.includes
    ]


def _is_constraint(lines: list[bytes], option: InstallOption) -> bool:
    return option.line <= len(lines) and _CONSTRAINT.match(lines[option.line - 1]) is not None


def to_line(mention: Mention) -> RequirementLine | None:
    """A mention as a line of a requirements file; None for folders, conda packages and non-install sections."""
    if not mention.is_installed or mention.section.endswith("conda"):
        return None
    name = str(canonicalize_name(mention.name))
    if mention.url:
        return RequirementLine(name, _without_options(mention.text), mention.url) if _URL.match(mention.url) else None
    if not _NAME.match(mention.name) or name == "python":
        return None
    for text in (_without_options(mention.text), f"{mention.name}{mention.version}"):
        try:
            return RequirementLine(name, str(Requirement(text)))
        except InvalidRequirement:
            continue
    return RequirementLine(name, mention.name)


def _without_options(text: str) -> str:
    """Without per-requirement options such as --hash."""
    return re.split(r"\s--", text)[0].strip()


def port_sets(case: Case) -> list[RequirementSet]:
    """All sets, without the limit; those of the port's folder first."""
    return list(_sets(case))


def overrides(case: Case) -> tuple[RequirementLine, ...]:
    """Lines of the port's overrides.txt. Only uv supports overrides."""
    return read_lines(case.tree, f"{case.patch.folder}/overrides.txt")


def _sets(case: Case) -> Iterator[RequirementSet]:
    folder = f"{case.patch.folder}/"
    constraints = read_lines(case.tree, f"{folder}constraints.txt")
    port_files = requirement_sets(case.tree, lambda path: path.startswith(folder) and is_requirements(path))
    for requirement_set in port_files:
        yield replace(requirement_set, constraints=(*requirement_set.constraints, *constraints))
    covered = {line.name for port_set in port_files for line in port_set.lines}
    remaining_names = {
        str(canonicalize_name(item.name))
        for item in case.plan.decisions
        if item.decision == "keep" and not item.is_of_other_index
    } - covered
    # A line that is missing in the port's copy is a source that install.sh builds: resolve_builds checks it.
    for requirement_set in requirement_sets(case.tree, lambda path: not path.startswith(folder)):
        lines = tuple(line for line in requirement_set.lines if line.name in remaining_names)
        if lines:
            yield RequirementSet(f"{requirement_set.source} (lines that the plan keeps)", lines, constraints)


@dataclass(frozen=True)
class ExcludedRequirement:
    """A distribution that was excluded from the request, and why. `is_build`: reading its metadata needs a build."""

    name: str
    reason: str
    is_build: bool = False


@dataclass(frozen=True)
class PreparedSet:
    """A set as it is resolved. `notes` list the differences from the file; `pages` are for --find-links."""

    source: str
    lines: tuple[RequirementLine, ...]
    constraints: tuple[RequirementLine, ...] = ()
    indexes: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    excluded: tuple[ExcludedRequirement, ...] = ()
    notes: tuple[str, ...] = ()


def prepare(requirement_set: RequirementSet, web: WebClient, *, plain_versions: bool = False) -> PreparedSet:
    """`plain_versions`: if no index of the file responds, `1.0+cu121` is requested as `1.0`."""
    unreachable = {url: why for url in requirement_set.urls if (why := web.why_unreachable(url))}
    reachable = [url for url in requirement_set.urls if url not in unreachable]
    excluded = {line: why for line in requirement_set.lines if (why := _unreachable_reason(line, web))}
    requested = {
        line: _without_local_version(line) if plain_versions and not reachable else line
        for line in requirement_set.lines
    }
    notes = [f"index {without_secrets(url)} not used: {why}" for url, why in unreachable.items()]
    notes += [f"{old.text} resolved as {new.text}" for old, new in requested.items() if old != new]
    return PreparedSet(
        requirement_set.source,
        tuple(new for old, new in requested.items() if old not in excluded),
        tuple(
            _without_local_version(line) if plain_versions else line
            for line in requirement_set.constraints
            if not line.url
        ),
        tuple(url for url in reachable if not _is_page(url)),
        tuple(url for url in reachable if _is_page(url)),
        tuple(dict.fromkeys(ExcludedRequirement(line.name, why) for line, why in excluded.items())),
        tuple(notes),
    )


def _unreachable_reason(line: RequirementLine, web: WebClient) -> str:
    """Why the URL of a requirement cannot be fetched; empty if it can, or if there is no URL."""
    if not line.url:
        return ""
    address = re.sub(r"^\w+\+", "", line.url)
    why = web.why_unreachable(address)
    return f"{without_secrets(address)}: {why}" if why else ""


def _without_local_version(line: RequirementLine) -> RequirementLine:
    return line if line.url else replace(line, text=_LOCAL.sub(r"\1", line.text))


def _is_page(url: str) -> bool:
    """Whether it is a page of links for `--find-links` and not an index."""
    return url.split("?", maxsplit=1)[0].endswith((".html", ".htm"))
