"""The scan itself: reads each file once, shows it to every detector of its kind, and sums up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.manifest import pyproject, requirements
from rocm3d.model.finding import Finding
from rocm3d.model.inventory import Counts, Dependency, Inventory, Scan, Skipped
from rocm3d.model.location import Location
from rocm3d.scan.detector import Detector, Hit, Look, Unit, detectors
from rocm3d.scan.extensions import extensions
from rocm3d.scan.readiness import readiness
from rocm3d.syntax.cuda import SUFFIXES, CudaUnit
from rocm3d.syntax.python import PythonUnit

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.inventory import Extension
    from rocm3d.scan.selection import Selection
    from rocm3d.workspace.tree import Tree


@dataclass
class _Seen:
    """What has been collected so far."""

    findings: list[Finding] = field(default_factory=list)
    dependencies: list[Dependency] = field(default_factory=list)
    extensions: list[Extension] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    kinds: Counter[type[Unit]] = field(default_factory=Counter)


def scan(tree: Tree, knowledge: Knowledge, selection: Selection, progress: Callable[[str], None]) -> Scan:
    """Everything CUDA-first in a tree. `progress` is told each path before it is read."""
    seen, paths = _Seen(), tree.paths()
    for path in paths:
        progress(path)
        _note_broken_pyproject(tree, path, seen.skipped)
        unit = _unit(tree, path, seen.skipped)
        if unit is not None:
            seen.kinds[type(unit)] += 1
            _look(unit, knowledge, selection, seen)
    return Scan(inventory=_inventory(tree, paths, knowledge, seen), findings=tuple(sorted(seen.findings, key=_order)))


def _unit(tree: Tree, path: str, skipped: list[Skipped]) -> Unit | None:
    suffix = PurePosixPath(path).suffix.lower()
    wanted = suffix == ".py" or suffix in SUFFIXES or requirements.is_requirements(path)
    data = tree.read(path) if wanted else None
    if data is None:
        return None
    if b"\0" in data:
        skipped.append(Skipped(path=path, reason="holds NUL bytes, so it is no source text"))
        return None
    if not _is_utf8(data):
        skipped.append(Skipped(path=path, reason="is not UTF-8; read byte by byte, positions may be off"))
    if suffix == ".py":
        return PythonUnit(path, data)
    if suffix in SUFFIXES:
        return CudaUnit(path, data)
    return requirements.read(path, data)


def _note_broken_pyproject(tree: Tree, path: str, skipped: list[Skipped]) -> None:
    data = tree.read(path) if PurePosixPath(path).name == "pyproject.toml" else None
    problem = None if data is None else pyproject.syntax_error(data)
    if problem is not None:
        skipped.append(Skipped(path=path, reason=problem))


def _look(unit: Unit, knowledge: Knowledge, selection: Selection, seen: _Seen) -> None:
    for detector in detectors():
        if isinstance(unit, detector.reads) and selection.takes(detector.code, detector.rule):
            look = Look(knowledge.codes[detector.code], knowledge)
            seen.findings.extend(_finding(detector, look, unit.path, found) for found in detector.find(unit, look))
    if isinstance(unit, PythonUnit):
        seen.extensions.extend(extensions(unit))
    if isinstance(unit, requirements.Requirements):
        seen.dependencies.extend(_dependencies(unit, knowledge))
        seen.skipped.extend(Skipped(path=f"{unit.path}:{line}", reason=reason) for line, reason in unit.unread)


def _finding(detector: Detector, look: Look, path: str, found: Hit) -> Finding:
    code, recipe = look.code, look.knowledge.recipe_for(detector.code)
    package = look.knowledge.packages.get(found.package or "")
    return Finding(
        code=code.code,
        rule=code.rule,
        severity=code.severity,
        path=path,
        line=found.line,
        column=found.column,
        message=code.message.format(**found.facts),
        hint=code.hint.format(**found.facts),
        family=package.family if package else code.family,
        package=found.package,
        recipe=recipe.id if recipe else None,
    )


def _dependencies(unit: requirements.Requirements, knowledge: Knowledge) -> Iterator[Dependency]:
    for mention in unit.mentions:
        package = knowledge.package_by_pip(mention.name)
        yield Dependency(
            name=mention.name,
            requirement=mention.text,
            location=Location(path=unit.path, line=mention.line, column=mention.column),
            package=package.id if package else None,
        )


def _inventory(tree: Tree, paths: list[str], knowledge: Knowledge, seen: _Seen) -> Inventory:
    families = Counter(finding.family for finding in seen.findings if finding.family is not None)
    state, reasons = readiness(seen.findings, seen.dependencies, knowledge)
    return Inventory(
        repository=tree.name,
        counts=Counts(
            files=len(paths),
            bytes=sum(tree.size(path) for path in paths),
            python=seen.kinds[PythonUnit],
            cuda=seen.kinds[CudaUnit],
            manifests=seen.kinds[requirements.Requirements],
        ),
        dependencies=tuple(seen.dependencies),
        extensions=tuple(seen.extensions),
        families=dict(sorted(families.items())),
        skipped=tuple(sorted((*tree.skipped, *seen.skipped), key=lambda item: (item.path, item.reason))),
        readiness=state,
        reasons=reasons,
    )


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _order(finding: Finding) -> tuple[str, int, int, str]:
    return finding.path, finding.line, finding.column, finding.code
