"""Verdicts on the packages that a run used: GPU code ran, a planned fallback, or an unplanned one."""

from __future__ import annotations

from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.verify.backends.subjects import Subject, subjects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.package import Package
    from rocm3d.model.plan import Plan
    from rocm3d.model.run import ImportFallback, LoadedModule, RunRecord
    from rocm3d.model.verdict import Outcome

    Told = tuple[Outcome, str, tuple[str, ...]]

_INSTALLED = {"site-packages", "dist-packages"}
_COMPILED = (".so", ".pyd")


def backends(run: RunRecord, plan: Plan, knowledge: Knowledge) -> Iterator[Told]:
    """Outcome, reason and evidence for each package that the run imported or failed to import."""
    planned = {subject.package: subject for subject in subjects(plan, knowledge)}
    of_module = {name: package for package in knowledge.packages.values() for name in package.imports}
    for item in run.fallbacks:
        package = of_module.get(item.module.partition(".")[0]) or of_module.get(item.module)
        yield from _fallback(item, planned.get(package.id if package else ""))
    loaded: dict[str, list[LoadedModule]] = {}
    for module in run.modules:
        if package := of_module.get(module.name):
            loaded.setdefault(package.id, []).append(module)
    for name, modules in loaded.items():
        yield from _loaded(run, knowledge, knowledge.packages[name], modules, planned.get(name))
    unseen = [subject.package for subject in planned.values() if _was_due(subject) and subject.package not in loaded]
    missed = {item.module for item in run.fallbacks}
    unseen = [name for name in unseen if not missed.intersection(knowledge.packages[name].imports)]
    if unseen:
        yield "not_run", f"planned, but not imported in this run: {', '.join(unseen)}", ()


def _was_due(subject: Subject) -> bool:
    return subject.question is not None and not subject.planned and bool(subject.question.probe)


def _fallback(item: ImportFallback, subject: Subject | None) -> Iterator[Told]:
    said = f"import of {item.module} failed at {item.where}: {item.reason}"
    if subject is not None and (subject.planned or subject.aside):
        why = subject.planned or (subject.aside[1] if subject.aside else "")
        yield "skipped", f"planned fallback: {why}: {said}", ()
    elif subject is not None:
        yield "failed", f"unplanned fallback: {said}", ()
    elif _is_own(item.where):
        yield "failed", f"unplanned fallback of a package that is not in the plan: {said}", ()
    # Optional imports inside a library are not the repository's choice. The run record still lists them.


def _loaded(
    run: RunRecord, knowledge: Knowledge, package: Package, modules: list[LoadedModule], subject: Subject | None
) -> Iterator[Told]:
    stands_in = next((module for module in modules if module.stands_in), None)
    if stands_in is not None:
        said = f"{stands_in.name} is a substitute: {stands_in.stands_in}"
        if subject is not None and subject.planned:
            yield "skipped", f"planned fallback: {subject.planned}: {said}", ()
        else:
            yield "failed", f"unplanned fallback: {said}", ()
        return
    if not package.probe or subject is None:
        return
    where = tuple(f"{item.name} {item.version} from {item.file}".replace("  ", " ") for item in modules)
    shown = _at_work(run, knowledge, package, modules)
    if shown:
        yield "passed", "", (*where, *shown)
    elif subject.planned:
        yield "skipped", f"planned fallback: {subject.planned}: {package.id} was imported", where
    else:
        yield "not_run", f"{package.id} was imported, but none of its libraries or kernels was used", where


def _at_work(run: RunRecord, knowledge: Knowledge, package: Package, modules: list[LoadedModule]) -> list[str]:
    """Its kernels, or without a profile its loaded compiled library. For base packages any kernel counts."""
    if package.id in {name for suite in knowledge.suites.values() if suite.base for name in suite.packages}:
        ran = (f"{operation}: {', '.join(names)}" for operation, names in sorted(run.backends.items()))
        return [f"kernels of {'; '.join(ran)}"] if run.kernels else []
    # Ids of backend records start with the package id: nvdiffrast has nvdiffrast-raster and nvdiffrast-ops.
    own = {item.backend for item in knowledge.backends.values() if f"{item.id}-".startswith(f"{package.id}-")}
    kernels = sorted({item.name for item in run.kernels if item.backend in own})
    if kernels:
        return [f"kernel {name}" for name in kernels[:3]]
    homes = [str(PurePath(item.file).parent) for item in modules]
    libraries = [path for path in run.libraries if any(path.startswith(f"{home}/") for home in _folders(homes))]
    compiled = [item.file for item in modules if item.file.endswith(_COMPILED)]
    return [f"library {path}" for path in (*libraries, *compiled)[:3]]


def _folders(homes: list[str]) -> list[str]:
    """Without site-packages itself, which is the parent of single-file modules."""
    return [home for home in homes if PurePath(home).name not in _INSTALLED]


def _is_own(where: str) -> bool:
    """Whether the importing file belongs to the repository. Its paths are relative; it may contain an environment."""
    path = PurePosixPath(where)
    return not path.is_absolute() and not _INSTALLED.intersection(path.parts)
