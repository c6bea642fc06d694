"""The scan itself: every file once, then what the names tell, then the sum."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d import __version__
from rocm3d.model.inventory import Counts, Inventory, Scan
from rocm3d.scan.file import FileResult, is_wanted, look_at_paths
from rocm3d.scan.pool import look_at_all
from rocm3d.scan.readiness import readiness

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.scan.selection import Selection
    from rocm3d.workspace.result_cache import ResultCache
    from rocm3d.workspace.tree import Tree

_TOP_MODULE = re.compile(r"(?:src/|python/)?([^/]+)/__init__\.py$")


@dataclass(frozen=True)
class _How:
    """What is the same for every file."""

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
    """Everything CUDA-first in a tree. `progress` is told each path before it is read."""
    paths = tree.paths()
    how = _How(knowledge, selection, progress, cache)
    results = [look_at_paths(paths, knowledge, selection), *_files(tree, paths, how)]
    own = _own_packages(paths, knowledge)
    found = (finding for result in results for finding in result.findings if finding.package not in own)
    findings = _once(sorted(found, key=_order), knowledge)
    return Scan(inventory=_inventory(tree, paths, knowledge, results, findings), findings=tuple(findings))


def _files(tree: Tree, paths: list[str], how: _How) -> list[FileResult]:
    """A result for every file that was read, in path order: from the cache where its content was seen before."""
    if how.cache is None:
        wanted = _read(tree, paths, how.progress)
        found = dict(look_at_all(wanted, len(paths), how.knowledge, how.selection))
    else:
        found = _with_cache(list(_read(tree, paths, how.progress)), how, how.cache)
    return [result for _, result in sorted(found.items())]


def _with_cache(jobs: list[tuple[str, bytes]], how: _How, cache: ResultCache) -> dict[str, FileResult]:
    # Everything but the file itself that a result depends on.
    basis = f"{__version__} {how.knowledge.fingerprint} {how.selection}"
    keys = {path: hashlib.sha256(f"{basis} {path}\n".encode() + data).hexdigest() for path, data in jobs}
    known = cache.get(list(keys.values()))
    found = {path: FileResult.model_validate_json(known[key]) for path, key in keys.items() if key in known}
    new = [job for job in jobs if job[0] not in found]
    fresh = dict(look_at_all(new, len(new), how.knowledge, how.selection))
    cache.put({keys[path]: result.model_dump_json() for path, result in fresh.items()})
    return {**found, **fresh}


def _read(tree: Tree, paths: list[str], progress: Callable[[str], None]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        progress(path)
        data = tree.read(path) if is_wanted(path) else None
        if data is not None:
            yield path, data


def _once(findings: list[Finding], knowledge: Knowledge) -> list[Finding]:
    """An import that the package's route answers is one piece of news for the repository: repetitions become notes."""
    told: set[tuple[str, str | None]] = set()
    out = []
    for finding in findings:
        decided = knowledge.codes[finding.code].answered_by == "decision" and not finding.is_dependency
        repeated = decided and (finding.code, finding.package) in told
        told.add((finding.code, finding.package))
        out.append(finding.model_copy(update={"severity": "note"}) if repeated else finding)
    return out


def _own_packages(paths: list[str], knowledge: Knowledge) -> frozenset[str]:
    """Packages that the repository is itself: a library that imports its own name depends on nobody."""
    modules = {match.group(1) for path in paths if (match := _TOP_MODULE.match(path))}
    return frozenset(
        package.id
        for package in knowledge.packages.values()
        if any(name.split(".")[0] in modules for name in package.imports)
    )


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
        counts=Counts(
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
