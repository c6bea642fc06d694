"""The scan stage: scans every file once, then the file names, and builds the document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from rocm3d.model.finding import Finding
from rocm3d.model.inventory import FileCounts, Inventory, Scan
from rocm3d.scan.auxiliary_files import is_auxiliary
from rocm3d.scan.clues import confirmed_findings
from rocm3d.scan.file_scan import FileResult, is_scanned, scan_included, scan_paths
from rocm3d.scan.hidden_findings import count_hidden, hidden_findings
from rocm3d.scan.index_names import other_indexes
from rocm3d.scan.pool import scan_files
from rocm3d.scan.recognition import recognised_port
from rocm3d.scan.scan_cache import (
    CachedScan,
    DigestingReader,
    FileCache,
    ScanCache,
    document_prefix,
    key_prefix,
)
from rocm3d.scan.unreached_modules import UnreachedModules
from rocm3d.scan.unscanned import unscanned_code

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.inventory import Dependency, Readiness
    from rocm3d.model.package import Package
    from rocm3d.scan.scan_cache import ReadFile
    from rocm3d.scan.selection import Selection
    from rocm3d.workspace.result_cache import ResultCache
    from rocm3d.workspace.tree import Tree

_TOP_MODULE = re.compile(r"(?:src/|python/)?([^/]+)/__init__\.py$")
_UNREACHED = "no module of the repository imports this one"
_ALL_FIELDS = set(Finding.model_fields)  # one shared fields-set instead of one per finding


@dataclass(frozen=True)
class _ScanSettings:
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
    settings = _ScanSettings(knowledge, selection, progress, cache)
    scanned_paths = [path for path in tree.paths() if is_scanned(path)]
    if cache is None:
        return _document(tree, scanned_paths, settings, tree.read)
    prefix = document_prefix(
        knowledge.fingerprint, selection.only, selection.skip, selection.settings, isolated=selection.isolated
    )
    scan_cache = ScanCache(cache, tree, prefix, progress)
    key = scan_cache.key(scanned_paths)
    document = _restored(scan_cache.get(key))
    if document is None:
        read = DigestingReader(tree.read)
        document = _document(tree, scanned_paths, settings, read)
        serious = any(finding.severity != "note" for finding in document.findings)
        scan_cache.put(key, scanned_paths, CachedScan(document.to_json(), serious, read.digests))
    return document


def _restored(entry: CachedScan | None) -> Scan | None:
    """The cached document; None if missing or invalid, because other programs can write to the cache."""
    try:
        return None if entry is None else Scan.model_validate_json(entry.text)
    except ValidationError:
        return None


def _document(tree: Tree, scanned_paths: list[str], settings: _ScanSettings, read: ReadFile) -> Scan:
    paths, knowledge = tree.paths(), settings.knowledge
    own_packages = _own_packages(paths, knowledge)
    settings = replace(settings, selection=replace(settings.selection, own=tuple(sorted(own_packages))))
    results = [scan_paths(paths, knowledge, settings.selection, read), *_file_results(tree, scanned_paths, settings)]
    results += _included_results(results, set(scanned_paths), tree, settings, read)
    every, shown = _findings(results, settings, own_packages, _unreached_modules(tree, set(scanned_paths), read))
    hidden = hidden_findings(every, shown, settings.selection.settings)
    relinked = [_unlink_own_packages(result, own_packages) for result in results]
    families = Counter(finding.family for finding in shown if finding.family is not None)
    inventory = _inventory(tree, paths, settings, relinked, every, read).model_copy(
        update={
            "families": dict(sorted(families.items())),
            "hidden": count_hidden(hidden, settings.selection.settings),
        }
    )
    return Scan(inventory=inventory, findings=tuple(shown), hidden=hidden)


def _findings(
    results: list[FileResult], settings: _ScanSettings, own_packages: frozenset[str], unreached: Container[str]
) -> tuple[list[Finding], list[Finding]]:
    """All findings, and those that the repository does not hide. `unreached` are the modules that nothing imports."""
    selection = settings.selection

    def reported(*, with_silenced: bool) -> list[Finding]:
        findings = [finding for result in results for finding in result.findings]
        if with_silenced:
            findings += [finding for result in results for finding in result.silenced]
        findings += confirmed_findings(results, with_silenced=with_silenced)
        ordered = sorted((finding for finding in findings if finding.package not in own_packages), key=_order)
        return _demote_unreached(ordered, settings.knowledge, unreached)

    every = reported(with_silenced=True)
    shown = every
    if not selection.isolated and any(result.ignored for result in results):
        shown = reported(with_silenced=False)
    if selection.settings is not None:
        hides = selection.settings.hides
        shown = [finding for finding in shown if not hides(finding.code, finding.rule)]
    every_demoted = _demote_repetitions(every, settings.knowledge)
    return every_demoted, every_demoted if shown is every else _demote_repetitions(shown, settings.knowledge)


def _file_results(tree: Tree, scanned_paths: list[str], settings: _ScanSettings) -> list[FileResult]:
    """A result for every file that was read, in path order, from the cache where possible."""
    # Sorted by suffix, so that few worker processes load the reader of a rare kind of file.
    by_kind = sorted(scanned_paths, key=lambda path: path.rpartition(".")[2])
    jobs, intern = _read(tree, by_kind, settings.progress), StringInterner()
    if settings.cache is None:
        results = {path: intern(result) for path, result in scan_files(jobs, settings.knowledge, settings.selection)}
    else:
        selection = settings.selection
        file_cache = FileCache(
            settings.cache,
            f"{key_prefix(settings.knowledge.fingerprint, selection.only, selection.skip)} {selection.own}",
        )
        fresh = file_cache.store(scan_files(file_cache.uncached(jobs), settings.knowledge, settings.selection))
        results = {path: intern(result) for path, result in fresh}
        results |= {path: intern(result) for path, result in file_cache.cached.items()}
    return [result for _, result in sorted(results.items())]


def _included_results(
    results: list[FileResult], scanned: set[str], tree: Tree, settings: _ScanSettings, read: ReadFile
) -> Iterator[FileResult]:
    """Requirements files with any name that other requirements files include, in the order of inclusion."""
    pending = [path for result in results for path in result.indexes.includes]
    while pending:
        path = pending.pop(0)
        if path in scanned or path not in tree:
            continue
        scanned.add(path)
        data = read(path)
        if data is not None:
            result = scan_included(path, data, settings.knowledge, settings.selection)
            pending += result.indexes.includes
            yield result


def _read(tree: Tree, scanned_paths: list[str], progress: Callable[[str], None]) -> Iterator[tuple[str, bytes]]:
    for path in scanned_paths:
        progress(path)
        data = tree.read(path)
        if data is not None:
            yield path, data


def _demote_repetitions(findings: list[Finding], knowledge: Knowledge) -> list[Finding]:
    """Turn repeated findings into notes if one decision about the package resolves all of them."""
    reported: set[tuple[str, str | None]] = set()
    out = []
    for finding in findings:
        resolved_by_decision = knowledge.codes[finding.code].answered_by == "decision" and not finding.is_dependency
        is_repeated = resolved_by_decision and (finding.code, finding.package) in reported
        if finding.severity != "note":
            reported.add((finding.code, finding.package))
        out.append(finding.model_copy(update={"severity": "note"}) if is_repeated else finding)
    return out


def _demote_unreached(findings: list[Finding], knowledge: Knowledge, unreached: Container[str]) -> list[Finding]:
    """Turn imports in modules that nothing imports into notes, up to the first import that makes a package needed."""
    needed: set[tuple[str, str | None]] = set()
    out = []
    for finding in findings:
        key = finding.code, finding.package
        is_required = finding.severity != "note" and finding.package is not None and not finding.is_dependency
        if is_required and key not in needed and knowledge.codes[finding.code].answered_by == "decision":
            if finding.path in unreached:
                message = f"{finding.message}; {_UNREACHED}"
                out.append(finding.model_copy(update={"severity": "note", "message": message}))
                continue
            needed.add(key)
        out.append(finding)
    return out


def _unreached_modules(tree: Tree, scanned: set[str], read: ReadFile) -> Container[str]:
    """The modules that nothing in a tree imports; none if a part of the tree was not scanned.

    `read` records the digests of files that are not in the key of the cache.
    """
    if unscanned_code(tree, (), ()):
        return ()

    def bounded_read(path: str) -> bytes | None:
        if tree.size(path) > tree.limits.file_bytes:
            return None
        return tree.read(path) if path in scanned else read(path)

    return UnreachedModules(frozenset(tree.paths()), bounded_read)


def _own_packages(paths: list[str], knowledge: Knowledge) -> frozenset[str]:
    """Packages that the repository provides: a library that imports itself has no dependency."""
    modules = {match.group(1) for path in paths if (match := _TOP_MODULE.match(path))}
    return frozenset(
        package.id
        for package in knowledge.packages.values()
        if any(name.split(".")[0] in modules for name in package.imports)
    )


def _unlink_own_packages(result: FileResult, own_packages: frozenset[str]) -> FileResult:
    """The result without links from dependencies to packages that the repository provides itself."""
    if not any(d.package in own_packages for d in result.dependencies):
        return result
    dependencies = (
        d.model_copy(update={"package": None}) if d.package in own_packages else d for d in result.dependencies
    )
    return result.model_copy(update={"dependencies": tuple(dependencies)})


def _inventory(  # noqa: PLR0913, PLR0917  (the parts of the document)
    tree: Tree,
    paths: list[str],
    settings: _ScanSettings,
    results: Sequence[FileResult],
    every: list[Finding],
    read: ReadFile,
) -> Inventory:
    """Without what is shown or hidden. The readiness follows from all findings: nobody can hide one from it."""
    knowledge, selection = settings.knowledge, settings.selection
    dependencies = tuple(entry for result in results for entry in result.dependencies)
    skipped = (*tree.skipped, *(entry for result in results for entry in result.skipped))
    unscanned = unscanned_code(
        tree,
        (entry for result in results for entry in result.unscanned),
        (entry for result in results for entry in result.git_dependencies),
    )
    state, reasons = readiness(every, dependencies, knowledge, is_complete=not unscanned)
    return Inventory(
        repository=tree.name,
        known_as=recognised_port(paths, knowledge, read),
        counts=FileCounts(
            files=len(paths),
            bytes=sum(tree.size(path) for path in paths),
            python=sum(result.python for result in results),
            cuda=sum(result.cuda for result in results),
            manifests=sum(result.manifests for result in results),
        ),
        dependencies=dependencies,
        extensions=tuple(entry for result in results for entry in result.extensions),
        other_indexes=other_indexes([result.indexes for result in results], knowledge),
        pythons=tuple(entry for result in results for entry in result.pythons),
        families={},
        skipped=tuple(sorted(skipped, key=lambda entry: (entry.path, entry.reason))),
        unscanned=unscanned,
        ignored=0 if selection.isolated else sum(result.ignored for result in results),
        rules=selection.options,
        readiness=state,
        reasons=reasons,
    )


def _order(finding: Finding) -> tuple[str, int, int, str]:
    return finding.path, finding.line, finding.column, finding.code


def readiness(
    findings: Sequence[Finding], dependencies: Sequence[Dependency], knowledge: Knowledge, *, is_complete: bool = True
) -> tuple[Readiness, tuple[str, ...]]:
    """The readiness state and the reasons for it. Without a finding it is partial, unless everything was scanned."""
    serious = [finding for finding in findings if finding.severity != "note"]
    packages = sorted(
        {
            dependency.package
            for dependency in dependencies
            if dependency.package and not is_auxiliary(dependency.location.path)
        }
    )
    imported = {finding.package for finding in serious if finding.package and not finding.is_dependency}
    without_route = [
        name for name in packages if not _has_route(knowledge.packages[name], is_imported=name in imported)
    ]
    if without_route:
        return "blocked", tuple(f"{name} has no route to ROCm" for name in without_route)
    edits = [finding for finding in serious if _is_edit(finding, knowledge)]
    rewrites = [finding for finding in edits if knowledge.codes[finding.code].effort == "rewrite"]
    if rewrites:
        return "rewrite", _counts_by_rule(rewrites)
    if edits:
        return "needs-edits", _counts_by_rule(edits)
    if serious:
        return "ready-with-deps", tuple(f"{name} must be installed from another source" for name in packages) or (
            "install commands request CUDA builds",
        )
    if not is_complete:
        return "partial", ("no CUDA-specific code or dependency found in what was scanned",)
    return "ready", ("no CUDA-specific code or dependency found",)


def _counts_by_rule(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(f"{rule}: {count}" for rule, count in sorted(Counter(finding.rule for finding in findings).items()))


def _has_route(package: Package, *, is_imported: bool) -> bool:
    routes = (route for route in package.routes if route.status == "active")
    return any(route.decision != "blocked" and not (route.unless_imported and is_imported) for route in routes)


def _is_edit(finding: Finding, knowledge: Knowledge) -> bool:
    """Whether the finding requires a change of the program's source.

    The route of its package resolves an import, unless no route keeps the import name; then the finding is an error.
    """
    code = knowledge.codes[finding.code]
    if finding.is_dependency or code.is_about_environment:
        return False
    return code.answered_by != "decision" or finding.severity == "error"


class StringInterner:
    """Replaces the strings of findings with shared copies."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def __call__(self, result: FileResult) -> FileResult:
        """An equal result whose findings share their strings."""
        if not (result.findings or result.silenced):
            return result
        fields = {name: tuple(map(self._interned, getattr(result, name))) for name in ("findings", "silenced")}
        return result.model_copy(update=fields)

    def _interned(self, finding: Finding) -> Finding:
        intern = self._texts.setdefault
        values: dict[str, Any] = {k: intern(v, v) if isinstance(v, str) else v for k, v in finding.__dict__.items()}
        return Finding.model_construct(_ALL_FIELDS, **values)
