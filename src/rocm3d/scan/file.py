"""One file, shown to every detector of its kind: a pure function of its path and bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.manifest.manifest import Manifest, readers
from rocm3d.model.base import Record
from rocm3d.model.finding import Finding
from rocm3d.model.inventory import Dependency, Extension, Skipped
from rocm3d.model.location import Location
from rocm3d.scan.detector import Detector, Hit, Look, Paths, Unit, detectors
from rocm3d.scan.extensions import extensions
from rocm3d.syntax.cuda import SUFFIXES, CudaUnit
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.scan.selection import Selection

_IGNORE = re.compile(rb"rocm3d:\s*ignore\[([A-Za-z0-9_,\s]+)\]")


class FileResult(Record):
    """What one file gave."""

    findings: tuple[Finding, ...] = ()
    ignored: int = 0
    dependencies: tuple[Dependency, ...] = ()
    extensions: tuple[Extension, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    python: int = 0
    cuda: int = 0
    manifests: int = 0


def is_wanted(path: str) -> bool:
    """Whether the bytes of a path are worth reading."""
    suffix = PurePosixPath(path).suffix.lower()
    return suffix == ".py" or suffix in SUFFIXES or any(r.matches(path) for r in readers() if not r.by_name)


def look_at(path: str, data: bytes, knowledge: Knowledge, selection: Selection) -> FileResult:
    """Everything the detectors find in one file."""
    if b"\0" in data:
        return FileResult(skipped=(Skipped(path=path, reason="holds NUL bytes, so it is no source text"),))
    units = list(_units(path, data))
    manifests = [unit for unit in units if isinstance(unit, Manifest)]
    found = [finding for unit in units for finding in _findings(unit, path, knowledge, selection)]
    kept = [finding for finding in found if not _is_ignored(finding, data)]
    return FileResult(
        findings=tuple(kept),
        ignored=len(found) - len(kept),
        dependencies=tuple(item for unit in manifests for item in _dependencies(unit, knowledge)),
        extensions=tuple(item for unit in units if isinstance(unit, PythonUnit) for item in extensions(unit)),
        skipped=tuple(_troubles(path, data, manifests)),
        python=sum(isinstance(unit, PythonUnit) for unit in units),
        cuda=sum(isinstance(unit, CudaUnit) for unit in units),
        manifests=len(manifests),
    )


def look_at_paths(paths: list[str], knowledge: Knowledge, selection: Selection) -> FileResult:
    """What the names of files tell, without opening them: bundled binaries, generated files, collisions."""
    named = [reader.read(path, b"") for reader in readers() if reader.by_name for path in paths if reader.matches(path)]
    units: list[Unit] = [Paths(tuple(paths)), *named]
    found = [f for unit in units for f in _findings(unit, getattr(unit, "path", ""), knowledge, selection)]
    return FileResult(findings=tuple(found), manifests=len(named))


def _units(path: str, data: bytes) -> Iterator[Unit]:
    suffix = PurePosixPath(path).suffix.lower()
    if suffix == ".py":
        yield PythonUnit(path, data)
    elif suffix in SUFFIXES:
        yield CudaUnit(path, data)
    for reader in readers():
        if not reader.by_name and reader.matches(path):
            yield reader.read(path, data)


def _findings(unit: Unit, path: str, knowledge: Knowledge, selection: Selection) -> Iterator[Finding]:
    for detector in detectors():
        if detector.may_find(unit) and selection.takes(detector.code, detector.rule):
            look = Look(knowledge.codes[detector.code], knowledge)
            for found in detector.find(unit, look):
                yield _finding(detector, look, found.path or path, found)


def _finding(detector: Detector, look: Look, path: str, found: Hit) -> Finding:
    code, recipe = look.code, look.knowledge.recipe_for(detector.code)
    package = look.knowledge.packages.get(found.package or "")
    return Finding(
        code=code.code,
        rule=code.rule,
        severity=found.severity or code.severity,
        path=path,
        line=found.line,
        column=found.column,
        message=code.message.format(**found.facts),
        hint=code.hint.format(**found.facts),
        family=package.family if package else code.family,
        package=found.package,
        recipe=recipe.id if recipe else None,
    )


def _is_ignored(finding: Finding, data: bytes) -> bool:
    """Whether the line itself says `rocm3d: ignore[RULE]`, by rule or code."""
    lines = data.split(b"\n")
    match = _IGNORE.search(lines[finding.line - 1]) if finding.line <= len(lines) else None
    words = {} if match is None else {word.strip().lower() for word in match.group(1).decode().split(",")}
    return finding.rule in words or finding.code.lower() in words


def _dependencies(unit: Manifest, knowledge: Knowledge) -> Iterator[Dependency]:
    for mention in unit.mentions:
        if mention.section.split(":")[0] in ("documentation", "workflow"):
            continue  # a page tells what people may type; what the repository needs stands in its manifests
        package = knowledge.package_by_pip(mention.name)
        yield Dependency(
            name=mention.name,
            requirement=mention.text,
            location=Location(path=unit.path, line=mention.line, column=mention.column),
            package=package.id if package else None,
        )


def _troubles(path: str, data: bytes, manifests: list[Manifest]) -> Iterator[Skipped]:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        yield Skipped(path=path, reason="is not UTF-8; read byte by byte, positions may be off")
    for unit in manifests:
        for line, reason in unit.unread:
            yield Skipped(path=path if line <= 1 else f"{path}:{line}", reason=reason)
