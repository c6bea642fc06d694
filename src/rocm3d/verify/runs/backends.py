"""Verdicts on the packages that a run used: GPU code ran, a planned fallback, or an unplanned one."""

from __future__ import annotations

from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.verify.backends.planned_packages import PlannedPackage, planned_packages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.package import Package
    from rocm3d.model.plan import Plan
    from rocm3d.model.run import ImportFallback, LoadedModule, RunRecord
    from rocm3d.model.verdict import Outcome

    VerdictParts = tuple[Outcome, str, tuple[str, ...]]

_INSTALLED = {"site-packages", "dist-packages"}
_COMPILED = (".so", ".pyd")


def backend_verdicts(run: RunRecord, plan: Plan, knowledge: Knowledge) -> Iterator[VerdictParts]:
    """Outcome, reason and evidence for each package that the run imported or failed to import."""
    planned = {subject.package: subject for subject in planned_packages(plan, knowledge)}
    of_module = {name: package for package in knowledge.packages.values() for name in package.imports}
    for fallback in run.fallbacks:
        package = of_module.get(fallback.module.partition(".")[0]) or of_module.get(fallback.module)
        yield from _fallback_verdicts(fallback, planned.get(package.id if package else ""))
    loaded: dict[str, list[LoadedModule]] = {}
    for module in run.modules:
        if package := of_module.get(module.name):
            loaded.setdefault(package.id, []).append(module)
    for name, modules in loaded.items():
        yield from _loaded_verdicts(run, knowledge, knowledge.packages[name], modules, planned.get(name))
    not_imported = [
        subject.package for subject in planned.values() if _is_expected(subject) and subject.package not in loaded
    ]
    failed_imports = {fallback.module for fallback in run.fallbacks}
    not_imported = [name for name in not_imported if not failed_imports.intersection(knowledge.packages[name].imports)]
    if not_imported:
        yield "not_run", f"planned, but not imported in this run: {', '.join(not_imported)}", ()


def _is_expected(package: PlannedPackage) -> bool:
    return package.request is not None and not package.fallback_reason and bool(package.request.probe)


def _fallback_verdicts(fallback: ImportFallback, planned_package: PlannedPackage | None) -> Iterator[VerdictParts]:
    detail = f"import of {fallback.module} failed at {fallback.where}: {fallback.reason}"
    if planned_package is not None and (planned_package.fallback_reason or planned_package.exclusion):
        reason = planned_package.fallback_reason or (planned_package.exclusion[1] if planned_package.exclusion else "")
        yield "skipped", f"planned fallback: {reason}: {detail}", ()
    elif planned_package is not None:
        yield "failed", f"unplanned fallback: {detail}", ()
    elif _is_repository_file(fallback.where):
        yield "failed", f"unplanned fallback of a package that is not in the plan: {detail}", ()
    # Optional imports inside a library are not the repository's choice. The run record still lists them.


def _loaded_verdicts(
    run: RunRecord,
    knowledge: Knowledge,
    package: Package,
    modules: list[LoadedModule],
    planned_package: PlannedPackage | None,
) -> Iterator[VerdictParts]:
    substitute = next((module for module in modules if module.stands_in), None)
    if substitute is not None:
        detail = f"{substitute.name} is a substitute: {substitute.stands_in}"
        if planned_package is not None and planned_package.fallback_reason:
            yield "skipped", f"planned fallback: {planned_package.fallback_reason}: {detail}", ()
        else:
            yield "failed", f"unplanned fallback: {detail}", ()
        return
    if not package.probe or planned_package is None:
        return
    module_texts = tuple(f"{item.name} {item.version} from {item.file}".replace("  ", " ") for item in modules)
    usage = _evidence_of_use(run, knowledge, package, modules)
    if usage:
        yield "passed", "", (*module_texts, *usage)
    elif planned_package.fallback_reason:
        yield "skipped", f"planned fallback: {planned_package.fallback_reason}: {package.id} was imported", module_texts
    else:
        yield "not_run", f"{package.id} was imported, but none of its libraries or kernels was used", module_texts


def _evidence_of_use(run: RunRecord, knowledge: Knowledge, package: Package, modules: list[LoadedModule]) -> list[str]:
    """Its kernels, or without a profile its loaded compiled library. For base packages any kernel counts."""
    if package.id in {name for suite in knowledge.suites.values() if suite.base for name in suite.packages}:
        operations = (f"{operation}: {', '.join(names)}" for operation, names in sorted(run.backends.items()))
        return [f"kernels of {'; '.join(operations)}"] if run.kernels else []
    # Ids of backend records start with the package id: nvdiffrast has nvdiffrast-raster and nvdiffrast-ops.
    own_backends = {item.backend for item in knowledge.backends.values() if f"{item.id}-".startswith(f"{package.id}-")}
    kernels = sorted({item.name for item in run.kernels if item.backend in own_backends})
    if kernels:
        return [f"kernel {name}" for name in kernels[:3]]
    parents = [str(PurePath(item.file).parent) for item in modules]
    libraries = [
        path for path in run.libraries if any(path.startswith(f"{home}/") for home in _package_folders(parents))
    ]
    compiled = [item.file for item in modules if item.file.endswith(_COMPILED)]
    return [f"library {path}" for path in (*libraries, *compiled)[:3]]


def _package_folders(parents: list[str]) -> list[str]:
    """Without site-packages itself, which is the parent of single-file modules."""
    return [home for home in parents if PurePath(home).name not in _INSTALLED]


def _is_repository_file(location: str) -> bool:
    """Whether the importing file belongs to the repository. Its paths are relative; it may contain an environment."""
    path = PurePosixPath(location)
    return not path.is_absolute() and not _INSTALLED.intersection(path.parts)
