"""Scan one file with every detector of its kind: a pure function of its path and bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from rocm3d.manifest.cmake import is_cmake
from rocm3d.manifest.manifest import ParsedManifest, manifest_readers, posix_path, read_manifests
from rocm3d.manifest.requirements import read
from rocm3d.model.base import Record
from rocm3d.model.credentials import without_credentials
from rocm3d.model.errors import UserError
from rocm3d.model.finding import Finding, Location
from rocm3d.model.inventory import LFS_POINTER, Dependency, Extension, PythonVersions, SkippedFile
from rocm3d.scan.auxiliary_files import is_auxiliary
from rocm3d.scan.cmake_extensions import cmake_extensions
from rocm3d.scan.detector import Clue, Detector, DetectorContext, Match, RepositoryPaths, Unit
from rocm3d.scan.extensions import torch_extensions
from rocm3d.scan.index_names import FileIndexes, file_indexes
from rocm3d.scan.mentions import package_of
from rocm3d.scan.python_ranges import python_versions
from rocm3d.scan.rules import rules_by_unit
from rocm3d.scan.unscanned import GitDependency, git_dependencies, is_counted, may_hold_source
from rocm3d.syntax.cuda import CUDA_SUFFIXES, CudaUnit
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.unit import ParsedUnit
from rocm3d.workspace.lfs_pointer import is_lfs_pointer

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.scan.selection import Selection

_IGNORE = re.compile(rb"rocm3d:\s*ignore\[([A-Za-z0-9_,\s]+)\]")


class ConditionalFinding(Record):
    """A finding. With `clue` it counts only if another file has that clue; with `unless` only if no file has it.

    `silenced`: a comment on its line hides it.
    """

    finding: Finding
    clue: str = ""
    unless: str = ""
    silenced: bool = False

    @property
    def is_conditional(self) -> bool:
        """Whether clues in other files decide about it."""
        return bool(self.clue or self.unless)


class FileResult(Record):
    """The scan result of one file; `python`, `cuda` and `manifests` count its units.

    `silenced` are the findings that a comment on their line hides. `unscanned` are the entries of `skipped` with source
    code or requirements that no rule has seen.
    """

    path: str = ""
    findings: tuple[Finding, ...] = ()
    silenced: tuple[Finding, ...] = ()
    waiting: tuple[ConditionalFinding, ...] = ()
    clues: tuple[str, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    extensions: tuple[Extension, ...] = ()
    indexes: FileIndexes = FileIndexes()
    pythons: tuple[PythonVersions, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    unscanned: tuple[SkippedFile, ...] = ()
    git_dependencies: tuple[GitDependency, ...] = ()
    python: int = 0
    cuda: int = 0
    manifests: int = 0

    @property
    def ignored(self) -> int:
        """Findings that comments hide, conditional ones included."""
        return len(self.silenced) + sum(entry.silenced for entry in self.waiting)


def is_scanned(path: str) -> bool:
    """Whether any detector reads files with this path."""
    suffix = posix_path(path).suffix.lower()
    return (
        suffix == ".py" or suffix in CUDA_SUFFIXES or any(r.matches(path) for r in manifest_readers() if not r.by_name)
    )


def scan_file(path: str, data: bytes, knowledge: Knowledge, selection: Selection) -> FileResult:
    reason = _unread_reason(data)
    return unread_file(path, reason) if reason else _scanned_file(path, data, knowledge, selection)


def _unread_reason(data: bytes) -> str:
    """Why a file is not parsed; empty if it is."""
    if is_lfs_pointer(data):
        return LFS_POINTER
    return "contains NUL bytes (not a text file)" if b"\0" in data else ""


def _scanned_file(path: str, data: bytes, knowledge: Knowledge, selection: Selection) -> FileResult:
    return _file_result(path, data, list(_units(path, data)), knowledge, selection)


def unread_file(path: str, reason: str) -> FileResult:
    """The result of a file that was not parsed."""
    skipped = (SkippedFile(path=path, reason=reason),)
    return FileResult(skipped=skipped, unscanned=skipped if may_hold_source(path) else ())


def scan_included(path: str, data: bytes, knowledge: Knowledge, selection: Selection) -> FileResult:
    """Scan a file that a requirements file includes and that no reader knows by its name."""
    reason = _unread_reason(data)
    if reason:
        skipped = (SkippedFile(path=path, reason=reason),)
        return FileResult(skipped=skipped, unscanned=skipped)
    return _file_result(path, data, [read(path, data)], knowledge, selection)


def _file_result(path: str, data: bytes, units: list[Unit], knowledge: Knowledge, selection: Selection) -> FileResult:
    manifests = [unit for unit in units if isinstance(unit, ParsedManifest)]
    results = [entry for unit in units for entry in _run_detectors(unit, path, knowledge, selection)]
    pending = [entry for entry in results if isinstance(entry, ConditionalFinding)]
    ignored_lines = _ignored_rules(data) if pending else {}
    unparsed = list(_unparsed_parts(path, units))
    marked = [
        entry.model_copy(update={"silenced": True})
        if _is_ignored(ignored_lines.get(entry.finding.line, ()), entry.finding)
        else entry
        for entry in pending
    ]
    return FileResult(
        path=path,
        findings=tuple(entry.finding for entry in marked if not (entry.is_conditional or entry.silenced)),
        silenced=tuple(entry.finding for entry in marked if entry.silenced and not entry.is_conditional),
        waiting=tuple(entry for entry in marked if entry.is_conditional),
        clues=tuple(sorted({entry.name for entry in results if isinstance(entry, Clue)})),
        dependencies=tuple(entry for unit in manifests for entry in _dependencies(unit, knowledge)),
        extensions=tuple(entry for unit in units for entry in _extensions(unit)),
        indexes=file_indexes(path, manifests, knowledge),
        pythons=tuple(entry for unit in manifests for entry in python_versions(unit)),
        skipped=(*_encoding_problem(path, data), *(item for item, _ in unparsed)),
        unscanned=tuple(item for item, holds_code in unparsed if holds_code),
        git_dependencies=tuple(entry for unit in manifests for entry in git_dependencies(unit, knowledge)),
        python=sum(isinstance(unit, PythonUnit) for unit in units),
        cuda=sum(isinstance(unit, CudaUnit) for unit in units),
        manifests=len(manifests),
    )


def scan_paths(
    paths: list[str],
    knowledge: Knowledge,
    selection: Selection,
    read: Callable[[str], bytes | None] = lambda _: None,
) -> FileResult:
    """Run the rules over file names: bundled binaries, generated files, collisions. Only a few files are opened."""
    named = [
        reader.read(path, b"")
        for reader in manifest_readers()
        if reader.by_name
        for path in paths
        if reader.matches(path)
    ]
    units: list[Unit] = [RepositoryPaths(tuple(paths), read), *named]
    results = (
        entry for unit in units for entry in _run_detectors(unit, getattr(unit, "path", ""), knowledge, selection)
    )
    return FileResult(
        findings=tuple(entry.finding for entry in results if isinstance(entry, ConditionalFinding)),
        manifests=len(named),
    )


def _units(path: str, data: bytes) -> Iterator[Unit]:
    suffix = posix_path(path).suffix.lower()
    if suffix == ".py":
        yield PythonUnit(path, data)
    elif suffix in CUDA_SUFFIXES:
        yield CudaUnit(path, data)
    yield from read_manifests(path, lambda _: data)


def _run_detectors(
    unit: Unit, path: str, knowledge: Knowledge, selection: Selection
) -> Iterator[ConditionalFinding | Clue]:
    for detector, context in rules_by_unit(knowledge, selection)[type(unit)]:
        try:
            if detector.can_match(unit, context):
                yield from _run_detector(detector, context, unit, path)
        except (LookupError, re.error) as error:
            if context.code.matcher is None:
                raise
            # The rule is data, maybe of an overlay: its texts name a fact that does not exist, or a regex is invalid.
            raise UserError(f"rule {detector.rule}: {error}", hint="rocm3d kb check --knowledge DIR") from error


def _run_detector(
    detector: Detector, context: DetectorContext, unit: Unit, path: str
) -> Iterator[ConditionalFinding | Clue]:
    for match in detector.find(unit, context):
        if isinstance(match, Clue):
            yield match
        else:
            finding = _finding(detector, context, match.path or path, match)
            yield ConditionalFinding(finding=finding, clue=match.clue, unless=match.unless)


def _finding(detector: Detector, context: DetectorContext, path: str, match: Match) -> Finding:
    code, recipe = context.code, context.knowledge.recipe_for(detector.code)
    package = context.knowledge.packages.get(match.package or "")
    return Finding(
        code=code.code,
        rule=code.rule,
        severity="note" if is_auxiliary(path) else match.severity or code.severity,
        path=path,
        line=match.line,
        column=match.column,
        message=without_credentials(code.message.format(**match.facts)),
        hint=without_credentials(code.hint.format(**match.facts)),
        family=package.family if package else code.family,
        package=match.package or code.package,
        recipe=recipe.id if recipe else None,
    )


def _ignored_rules(data: bytes) -> dict[int, set[str]]:
    """Ignored rules and codes by line number, from `rocm3d: ignore[RULE]` comments."""
    ignored: dict[int, set[str]] = {}
    for number, line in enumerate(data.split(b"\n") if b"rocm3d" in data else (), 1):
        match = _IGNORE.search(line) if b"rocm3d" in line else None
        if match is not None:
            ignored[number] = {rule_name.strip().lower() for rule_name in match.group(1).decode().split(",")}
    return ignored


def _is_ignored(ignored: Collection[str], finding: Finding) -> bool:
    return finding.rule in ignored or finding.code.lower() in ignored


def _extensions(unit: Unit) -> Iterator[Extension]:
    if isinstance(unit, PythonUnit):
        yield from torch_extensions(unit)
    elif isinstance(unit, ParsedManifest) and unit.commands and is_cmake(unit.path):
        yield from cmake_extensions(unit)


def _dependencies(unit: ParsedManifest, knowledge: Knowledge) -> Iterator[Dependency]:
    for mention in unit.mentions:
        if mention.section.split(":")[0] in ("documentation", "workflow"):
            continue  # dependencies come from manifests, not from documentation or CI
        name, package = package_of(mention, knowledge)
        yield Dependency(
            name=name,
            requirement=without_credentials(mention.text),
            location=Location(path=unit.path, line=mention.line, column=mention.column),
            package=package.id if package else None,
            optional=not mention.is_installed,
        )


def _encoding_problem(path: str, data: bytes) -> Iterator[SkippedFile]:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        yield SkippedFile(path=path, reason="is not UTF-8: line and column numbers may be wrong")


def _unparsed_parts(path: str, units: list[Unit]) -> Iterator[tuple[SkippedFile, bool]]:
    """What no rule saw, and whether it is source code or a requirement of the program."""
    for unit in units:
        if isinstance(unit, ParsedUnit) and unit.skip_reason:
            yield SkippedFile(path=path, reason=unit.skip_reason), True
        if isinstance(unit, ParsedManifest):
            for line, reason in unit.unread:
                where = path if line <= 1 else f"{path}:{line}"
                yield SkippedFile(path=where, reason=reason), is_counted(unit.kind) and not is_auxiliary(path)
