"""The scan stage: scans every file once, then the file names, and builds the document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import ValidationError

from rocm3d.model.inventory import FileCounts, Inventory, Scan
from rocm3d.scan.clues import confirmed
from rocm3d.scan.file import FileResult, is_wanted, look_at_paths
from rocm3d.scan.lean import Lean
from rocm3d.scan.pool import look_at_all
from rocm3d.scan.readiness import readiness
from rocm3d.scan.recognition import known_as
from rocm3d.scan.remembered import Kept, Noted, Remembered, basis
from rocm3d.scan.seen import Seen

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.scan.remembered import Reads
    from rocm3d.scan.selection import Selection
    from rocm3d.workspace.result_cache import ResultCache
    from rocm3d.workspace.tree import Tree

_TOP_MODULE = re.compile(r"(?:src/|python/)?([^/]+)/__init__\.py$")


@dataclass(frozen=True)
class _How:
    """Settings that are the same for every file."""

    knowledge: Knowledge
    selection: Selection
    progress: Callable[[str], None]
    cache: ResultCache | None


def scan(
    tree: Tree,
    knowledge: Knowledge,
    selection: Selection,
    progress: Callable[[str], None],
    cache: ResultCache | None = None,
) -> Scan:
    """Scan a tree. `progress` is called with each path before it is read."""
    how = _How(knowledge, selection, progress, cache)
    wanted = [path for path in tree.paths() if is_wanted(path)]
    if cache is None:
        return _document(tree, wanted, how, tree.read)
    seen = Remembered(cache, tree, basis(knowledge.fingerprint, selection.only, selection.skip), progress)
    key = seen.key(wanted)
    document = _restored(seen.get(key))
    if document is None:
        read = Noted(tree.read)
        document = _document(tree, wanted, how, read)
        serious = any(finding.severity != "note" for finding in document.findings)
        seen.keep(key, wanted, Kept(document.to_json(), serious, read.digests))
    return document


def _restored(kept: Kept | None) -> Scan | None:
    """The cached document; None if missing or invalid, because other programs can write to the cache."""
    try:
        return None if kept is None else Scan.model_validate_json(kept.text)
    except ValidationError:
        return None


def _document(tree: Tree, wanted: list[str], how: _How, read: Reads) -> Scan:
    paths, knowledge = tree.paths(), how.knowledge
    own = _own_packages(paths, knowledge)
    how = replace(how, selection=replace(how.selection, own=tuple(sorted(own))))
    results = [look_at_paths(paths, knowledge, how.selection, read), *_files(tree, wanted, how)]
    told = (finding for result in results for finding in result.findings)
    found = (finding for finding in (*told, *confirmed(results)) if finding.package not in own)
    findings = _once(sorted(found, key=_order), knowledge)
    named = [_disowned(result, own) for result in results]
    return Scan(inventory=_inventory(tree, paths, knowledge, named, findings), findings=tuple(findings))


def _files(tree: Tree, wanted: list[str], how: _How) -> list[FileResult]:
    """A result for every file that was read, in path order, from the cache where possible."""
    # Sorted by suffix, so that few worker processes load the reader of a rare kind of file.
    by_kind = sorted(wanted, key=lambda path: path.rpartition(".")[2])
    jobs, lean = _read(tree, by_kind, how.progress), Lean()
    if how.cache is None:
        found = {path: lean(result) for path, result in look_at_all(jobs, how.knowledge, how.selection)}
    else:
        selection = how.selection
        seen = Seen(how.cache, f"{basis(how.knowledge.fingerprint, selection.only, selection.skip)} {selection.own}")
        fresh = seen.kept(look_at_all(seen.new(jobs), how.knowledge, how.selection))
        found = {path: lean(result) for path, result in fresh}
        found |= {path: lean(result) for path, result in seen.found.items()}
    return [result for _, result in sorted(found.items())]


def _read(tree: Tree, wanted: list[str], progress: Callable[[str], None]) -> Iterator[tuple[str, bytes]]:
    for path in wanted:
        progress(path)
        data = tree.read(path)
        if data is not None:
            yield path, data


def _once(findings: list[Finding], knowledge: Knowledge) -> list[Finding]:
    """Turn repeated findings into notes if one decision about the package resolves all of them."""
    told: set[tuple[str, str | None]] = set()
    out = []
    for finding in findings:
        decided = knowledge.codes[finding.code].answered_by == "decision" and not finding.is_dependency
        repeated = decided and (finding.code, finding.package) in told
        if finding.severity != "note":
            told.add((finding.code, finding.package))
        out.append(finding.model_copy(update={"severity": "note"}) if repeated else finding)
    return out


def _own_packages(paths: list[str], knowledge: Knowledge) -> frozenset[str]:
    """Packages that the repository provides: a library that imports itself has no dependency."""
    modules = {match.group(1) for path in paths if (match := _TOP_MODULE.match(path))}
    return frozenset(
        package.id
        for package in knowledge.packages.values()
        if any(name.split(".")[0] in modules for name in package.imports)
    )


def _disowned(result: FileResult, own: frozenset[str]) -> FileResult:
    """The result without links from dependencies to packages that the repository provides itself."""
    if not any(d.package in own for d in result.dependencies):
        return result
    named = (d.model_copy(update={"package": None}) if d.package in own else d for d in result.dependencies)
    return result.model_copy(update={"dependencies": tuple(named)})


def _inventory(
    tree: Tree, paths: list[str], knowledge: Knowledge, results: Iterable[FileResult], findings: list[Finding]
) -> Inventory:
    results = list(results)
    dependencies = tuple(item for result in results for item in result.dependencies)
    skipped = (*tree.skipped, *(item for result in results for item in result.skipped))
    families = Counter(finding.family for finding in findings if finding.family is not None)
    state, reasons = readiness(findings, dependencies, knowledge)
    return Inventory(
        repository=tree.name,
        known_as=known_as(paths, knowledge),
        counts=FileCounts(
            files=len(paths),
            bytes=sum(tree.size(path) for path in paths),
            python=sum(result.python for result in results),
            cuda=sum(result.cuda for result in results),
            manifests=sum(result.manifests for result in results),
        ),
        dependencies=dependencies,
        extensions=tuple(item for result in results for item in result.extensions),
        families=dict(sorted(families.items())),
        skipped=tuple(sorted(skipped, key=lambda item: (item.path, item.reason))),
        ignored=sum(result.ignored for result in results),
        readiness=state,
        reasons=reasons,
    )


def _order(finding: Finding) -> tuple[str, int, int, str]:
    return finding.path, finding.line, finding.column, finding.code
