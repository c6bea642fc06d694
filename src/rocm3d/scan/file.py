"""Scan one file with every detector of its kind: a pure function of its path and bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from rocm3d.manifest.cmake import is_cmake
from rocm3d.manifest.manifest import ParsedManifest, posix_path, manifest_readers
from rocm3d.model.base import Record
from rocm3d.model.finding import Finding
from rocm3d.model.inventory import Dependency, Extension, SkippedFile
from rocm3d.model.location import Location
from rocm3d.scan.aside import is_aside
from rocm3d.scan.cmake_extensions import cmake_extensions
from rocm3d.scan.detector import Clue, Detector, Hit, Look, Paths, Unit
from rocm3d.scan.extensions import extensions
from rocm3d.scan.mentions import package_of
from rocm3d.scan.rules import rules
from rocm3d.syntax.cuda import CUDA_SUFFIXES, CudaUnit
from rocm3d.syntax.python import PythonUnit
from rocm3d.syntax.unit import ParsedUnit

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.scan.selection import Selection

_IGNORE = re.compile(rb"rocm3d:\s*ignore\[([A-Za-z0-9_,\s]+)\]")


class Told(Record):
    """A finding. With `clue` it counts only if another file has that clue; with `unless` only if no file has it."""

    finding: Finding
    clue: str = ""
    unless: str = ""

    @property
    def waits(self) -> bool:
        """Whether clues in other files decide about it."""
        return bool(self.clue or self.unless)


class FileResult(Record):
    """The scan result of one file; `python`, `cuda` and `manifests` count its units."""

    path: str = ""
    findings: tuple[Finding, ...] = ()
    waiting: tuple[Told, ...] = ()
    clues: tuple[str, ...] = ()
    ignored: int = 0
    dependencies: tuple[Dependency, ...] = ()
    extensions: tuple[Extension, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    python: int = 0
    cuda: int = 0
    manifests: int = 0


def is_wanted(path: str) -> bool:
    """Whether any detector reads files with this path."""
    suffix = posix_path(path).suffix.lower()
    return suffix == ".py" or suffix in CUDA_SUFFIXES or any(r.matches(path) for r in manifest_readers() if not r.by_name)


def look_at(path: str, data: bytes, knowledge: Knowledge, selection: Selection) -> FileResult:
    if b"\0" in data:
        return FileResult(skipped=(SkippedFile(path=path, reason="contains NUL bytes (not a text file)"),))
    units = list(_units(path, data))
    manifests = [unit for unit in units if isinstance(unit, ParsedManifest)]
    said = [item for unit in units for item in _said(unit, path, knowledge, selection)]
    found = [item for item in said if isinstance(item, Told)]
    unwanted = _ignored(data) if found else {}
    kept = [item for item in found if not _names(unwanted.get(item.finding.line, ()), item.finding)]
    return FileResult(
        path=path,
        findings=tuple(item.finding for item in kept if not item.waits),
        waiting=tuple(item for item in kept if item.waits),
        clues=tuple(sorted({item.name for item in said if isinstance(item, Clue)})),
        ignored=len(found) - len(kept),
        dependencies=tuple(item for unit in manifests for item in _dependencies(unit, knowledge)),
        extensions=tuple(item for unit in units for item in _extensions(unit)),
        skipped=tuple(_troubles(path, data, units)),
        python=sum(isinstance(unit, PythonUnit) for unit in units),
        cuda=sum(isinstance(unit, CudaUnit) for unit in units),
        manifests=len(manifests),
    )


def look_at_paths(
    paths: list[str],
    knowledge: Knowledge,
    selection: Selection,
    read: Callable[[str], bytes | None] = lambda _: None,
) -> FileResult:
    """Run the rules over file names: bundled binaries, generated files, collisions. Only a few files are opened."""
    named = [reader.read(path, b"") for reader in manifest_readers() if reader.by_name for path in paths if reader.matches(path)]
    units: list[Unit] = [Paths(tuple(paths), read), *named]
    said = (item for unit in units for item in _said(unit, getattr(unit, "path", ""), knowledge, selection))
    return FileResult(findings=tuple(item.finding for item in said if isinstance(item, Told)), manifests=len(named))


def _units(path: str, data: bytes) -> Iterator[Unit]:
    suffix = posix_path(path).suffix.lower()
    if suffix == ".py":
        yield PythonUnit(path, data)
    elif suffix in CUDA_SUFFIXES:
        yield CudaUnit(path, data)
    for reader in manifest_readers():
        if not reader.by_name and reader.matches(path) and all(word in data for word in reader.required_bytes):
            yield reader.read(path, data)


def _said(unit: Unit, path: str, knowledge: Knowledge, selection: Selection) -> Iterator[Told | Clue]:
    for detector, look in rules(knowledge, selection)[type(unit)]:
        if detector.may_find(unit, look):
            for found in detector.find(unit, look):
                if isinstance(found, Clue):
                    yield found
                else:
                    finding = _finding(detector, look, found.path or path, found)
                    yield Told(finding=finding, clue=found.clue, unless=found.unless)


def _finding(detector: Detector, look: Look, path: str, found: Hit) -> Finding:
    code, recipe = look.code, look.knowledge.recipe_for(detector.code)
    package = look.knowledge.packages.get(found.package or "")
    return Finding(
        code=code.code,
        rule=code.rule,
        severity="note" if is_aside(path) else found.severity or code.severity,
        path=path,
        line=found.line,
        column=found.column,
        message=code.message.format(**found.facts),
        hint=code.hint.format(**found.facts),
        family=package.family if package else code.family,
        package=found.package or code.package,
        recipe=recipe.id if recipe else None,
    )


def _ignored(data: bytes) -> dict[int, set[str]]:
    """Ignored rules and codes by line number, from `rocm3d: ignore[RULE]` comments."""
    found: dict[int, set[str]] = {}
    for number, line in enumerate(data.split(b"\n") if b"rocm3d" in data else (), 1):
        match = _IGNORE.search(line) if b"rocm3d" in line else None
        if match is not None:
            found[number] = {word.strip().lower() for word in match.group(1).decode().split(",")}
    return found


def _names(words: Collection[str], finding: Finding) -> bool:
    return finding.rule in words or finding.code.lower() in words


def _extensions(unit: Unit) -> Iterator[Extension]:
    if isinstance(unit, PythonUnit):
        yield from extensions(unit)
    elif isinstance(unit, ParsedManifest) and unit.commands and is_cmake(unit.path):
        yield from cmake_extensions(unit)


def _dependencies(unit: ParsedManifest, knowledge: Knowledge) -> Iterator[Dependency]:
    for mention in unit.mentions:
        if mention.section.split(":")[0] in ("documentation", "workflow"):
            continue  # dependencies come from manifests, not from documentation or CI
        name, package = package_of(mention, knowledge)
        yield Dependency(
            name=name,
            requirement=mention.text,
            location=Location(path=unit.path, line=mention.line, column=mention.column),
            package=package.id if package else None,
        )


def _troubles(path: str, data: bytes, units: list[Unit]) -> Iterator[SkippedFile]:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        yield SkippedFile(path=path, reason="is not UTF-8: line and column numbers may be wrong")
    for unit in units:
        if isinstance(unit, ParsedUnit) and unit.skip_reason:
            yield SkippedFile(path=path, reason=unit.skip_reason)
        for line, reason in unit.unread if isinstance(unit, ParsedManifest) else ():
            yield SkippedFile(path=path if line <= 1 else f"{path}:{line}", reason=reason)
