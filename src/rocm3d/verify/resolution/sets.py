"""The requirement sets of a tree: one for each file that users install from."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rocm3d.manifest import requirements
from rocm3d.manifest.manifest import Mention, ParsedManifest, read_manifests

if TYPE_CHECKING:
    from rocm3d.manifest.manifest import InstallOption
    from rocm3d.workspace.tree import Tree

# Documentation, CI, lock files and the like: nobody installs from these.
_IGNORED_KINDS = frozenset({"markdown", "workflow", "locks", "notebook", "cmake", "gitmodules"})
# Requirements of builds, tests and extras do not belong to a plain install.
_OTHER_SECTIONS = frozenset(
    {"build-system", "optional", "setup_requires", "tests_require", "extras_require", "hatch", "uv"}
)
_URL = re.compile(r"(?:git|hg|svn|bzr)\+|https?://")
_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$")
_CONSTRAINT = re.compile(rb"\s*(-c|--constraint)")


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
        if path not in read_paths and not _is_constraints(path):
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
    lines: list[RequirementLine] = []
    constraints: list[RequirementLine] = []
    urls: list[str] = []
    queue, visited = [(root, False)], set[tuple[str, bool]]()
    while queue:
        path, is_constraints = queue.pop(0)
        manifest = manifests.get(path) or _read_included(path, tree)
        if manifest is None or (path, is_constraints) in visited:
            continue
        visited.add((path, is_constraints))
        file_lines = [line for mention in manifest.mentions if (line := to_line(mention)) is not None]
        (constraints if is_constraints else lines).extend(file_lines)
        urls += [url for option in manifest.options for url in option.urls if _URL.match(url)]
        queue += [
            (inner, is_constraints or includes_constraints) for inner, includes_constraints in _includes(manifest)
        ]
    requirement_set = RequirementSet(root, _deduplicate(lines), _deduplicate(constraints), tuple(dict.fromkeys(urls)))
    return requirement_set, {path for path, _ in visited}


def _read_included(path: str, tree: Tree) -> ParsedManifest | None:
    """A file that no reader matches by name, but that a requirements file includes."""
    data = tree.read(path) if path in tree else None
    return None if data is None or b"\0" in data else requirements.read(path, data)


def _deduplicate(lines: list[RequirementLine]) -> tuple[RequirementLine, ...]:
    return tuple(dict.fromkeys(lines))


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


def _is_constraints(path: str) -> bool:
    return PurePosixPath(path).name.lower().startswith("constraints")


def to_line(mention: Mention) -> RequirementLine | None:
    """A mention as a line of a requirements file; None for folders, conda packages and non-install sections."""
    if mention.section in _OTHER_SECTIONS or mention.section.endswith("conda"):
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
