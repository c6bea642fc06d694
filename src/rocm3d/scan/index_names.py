"""Which distributions may come from an index that is not known to be public.

pip asks every index of an install for every name and takes the highest version, so PyPI could answer for a private
name. An index therefore puts at risk each name of its install that is not known to be public: the rule of decision 25.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from packaging.utils import canonicalize_name

from rocm3d.manifest.index_uses import IndexUse, index_uses, is_from_index
from rocm3d.manifest.requirements import KIND
from rocm3d.model.base import Record
from rocm3d.model.credentials import has_credentials, without_credentials
from rocm3d.model.finding import Location
from rocm3d.model.inventory import OtherIndex

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.manifest.manifest import ParsedManifest

# People read these or CI runs them: an index there serves only the names and requirements files of its own command.
_READ_ONLY_KINDS = frozenset({"markdown", "workflow", "notebook", "makefile"})
# pip reads a requirements file, and the pip section of a conda environment, together with the files that it includes.
_FILE_KINDS = frozenset({KIND, "conda"})
_IGNORED_KINDS = frozenset({"locks", "cmake", "gitmodules"})


class IndexEntry(Record):
    """An index with the names and requirements files of its command, before files are joined."""

    index: OtherIndex
    scope: Literal["file", "command", "environment", "named"]
    files: tuple[str, ...] = ()
    channel: bool = False


class FileIndexes(Record):
    """What one file says about indexes: names that pip and conda take from one, and the files it includes."""

    path: str = ""
    entries: tuple[IndexEntry, ...] = ()
    pip_names: tuple[str, ...] = ()
    conda_names: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()


def file_indexes(path: str, manifests: Sequence[ParsedManifest], knowledge: Knowledge) -> FileIndexes:
    """The indexes, names and includes of one file."""
    units = [unit for unit in manifests if unit.kind not in _IGNORED_KINDS]
    mentions = [item for unit in units if unit.kind not in _READ_ONLY_KINDS for item in unit.mentions]
    names = [item for item in mentions if is_from_index(item)]
    entries = [_entry(unit, use) for unit in units for use in index_uses(unit, knowledge.is_public_index)]
    return FileIndexes(
        path=path,
        entries=tuple(entries),
        pip_names=_canonical(item.name for item in names if not item.section.endswith("conda")),
        conda_names=_canonical(item.name for item in names if item.section.endswith("conda")),
        includes=tuple(
            posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            for unit in units
            if unit.kind in _FILE_KINDS
            for option in unit.options
            for name in option.includes
        ),
    )


def _entry(unit: ParsedManifest, use: IndexUse) -> IndexEntry:
    location = Location(path=unit.path, line=use.line, column=use.column)
    index = OtherIndex(
        url=without_credentials(use.url),
        location=location,
        names=_canonical(use.names),
        links=use.links,
        problem=_problem(use),
    )
    scope = "command" if unit.kind in _READ_ONLY_KINDS else use.scope
    return IndexEntry(index=index, scope=scope, files=tuple(map(posixpath.normpath, use.files)), channel=use.channel)


def _problem(use: IndexUse) -> str:
    if has_credentials(use.url):
        return "its URL has credentials, which a port does not copy"
    if "$" in use.url or "%(" in use.url:
        return "its URL has a variable"
    if use.channel:
        return "it is a conda channel"
    if "://" not in use.url and not use.links:
        return "it is not a URL"
    if "://" not in use.url and (use.url.startswith(("/", "~")) or ".." in use.url.split("/")):
        return "it is a folder outside the repository"
    return ""


def other_indexes(results: Sequence[FileIndexes], knowledge: Knowledge) -> tuple[OtherIndex, ...]:
    """All indexes that are not public, each with the names at risk, sorted by place."""
    files = {result.path: result for result in results if result.path}
    groups = _groups(files)
    indexes = [
        entry.index.model_copy(
            update={"names": tuple(sorted(_names_at_risk(entry, result.path, groups, files, knowledge)))}
        )
        for result in results
        for entry in result.entries
    ]
    return tuple(sorted(indexes, key=lambda index: (index.location.path, index.location.line, index.url)))


def _groups(files: dict[str, FileIndexes]) -> dict[str, frozenset[str]]:
    """Files that pip reads in one install: options of one requirements file apply to all of them."""
    groups = {path: {path} for path in files}
    for path, result in files.items():
        for included in result.includes:
            if included in groups and groups[included] is not groups[path]:
                joined = groups[path] | groups[included]
                groups |= dict.fromkeys(joined, joined)
    return {path: frozenset(group) for path, group in groups.items()}


def _names_at_risk(
    entry: IndexEntry, path: str, groups: dict[str, frozenset[str]], files: dict[str, FileIndexes], knowledge: Knowledge
) -> Iterator[str]:
    names = set(entry.index.names)
    paths: set[str] = set()
    if entry.scope == "environment":
        paths = set(files)
    elif entry.scope == "file":
        paths |= groups.get(path, frozenset())
    for included in entry.files:
        paths |= groups.get(included, frozenset()) | groups.get(
            posixpath.normpath(posixpath.join(posixpath.dirname(path), included)), frozenset()
        )
    for other in paths & files.keys():
        names |= set(files[other].conda_names if entry.channel else files[other].pip_names)
    for name in names:
        if not knowledge.is_public_name(name) and knowledge.package_by_pip(name) is None and name != "python":
            yield name


def _canonical(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(canonicalize_name(name)) for name in names if name))
