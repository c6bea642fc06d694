"""Verdicts on a recorded run: its environment, expectations, artifacts, and the backends of its packages."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePath, PurePosixPath

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.package import Package
from rocm3d.model.plan import Plan
from rocm3d.model.port import Port
from rocm3d.model.run import ExpectationResult, ImportFallback, LoadedModule, RunRecord
from rocm3d.model.target import Gpu
from rocm3d.model.verdict import Outcome
from rocm3d.record.expectation import NOT_MEASURED, evaluate, is_workload, port_expectations
from rocm3d.verify.backends.package_checks import PlannedPackage, planned_packages

VerdictParts = tuple[Outcome, str, tuple[str, ...]]

_INSTALLED = {"site-packages", "dist-packages"}
_COMPILED = (".so", ".pyd")
_MAX_METRICS = 6


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


def artifact_verdicts(run: RunRecord) -> Iterator[VerdictParts]:
    """One passed for all valid artifacts, one for each other artifact. A run without artifacts is not_run."""
    valid = [item for item in run.artifacts if item.outcome == "ok"]
    for item in run.artifacts:
        if item.outcome == "bad":
            yield "failed", f"{item.path}: {'; '.join(item.problems)}", ()
        elif item.outcome == "not_read":
            yield "not_run", f"cannot read {item.path}: {item.reason}", ()
    if valid:
        yield "passed", "", tuple(f"{item.path}: {_describe_metrics(item.metrics)}" for item in valid)
    elif not run.artifacts:
        yield "not_run", "the run wrote no artifacts", ()


def _describe_metrics(metrics: dict[str, int | float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in list(metrics.items())[:_MAX_METRICS])


def expectation_verdicts(run: RunRecord, port: Port | None, knowledge: Knowledge) -> Iterator[VerdictParts]:
    """A value that was not recorded is not_run. Expectations of the record are evaluated again with current data."""
    user_results = [item for item in run.expectations if not item.source]
    yield from (_verdict_parts(item) for item in user_results)
    if port is None or port.workload is None or not is_workload(run.command, port.workload):
        return
    user_keys = {item.expectation.partition(" ")[0] for item in user_results}
    for expectation in port_expectations(port, knowledge.backends.values()):
        if expectation.key not in user_keys:
            yield _verdict_parts(evaluate(expectation, run))


def run_command(port: Port | None) -> str:
    """The command that records a run of this repository."""
    if port is None or port.workload is None or not port.workload.command:
        return "rocm3d run -- CMD ..."
    folder = f"cd {shlex.quote(port.workload.folder)} && " if port.workload.folder else ""
    return f"{folder}rocm3d run --limit {2 * port.workload.minutes}m -- {shlex.join(port.workload.command)}"


def _verdict_parts(result: ExpectationResult) -> VerdictParts:
    source = f" (expected by {result.source})" if result.source else ""
    text = f"{result.expectation}: found {result.found}{source}"
    if result.met:
        return "passed", "", (text,)
    return (
        ("not_run", f"{result.expectation}: {NOT_MEASURED}{source}", ())
        if result.found == NOT_MEASURED
        else ("failed", text, ())
    )


def environment_mismatch(run: RunRecord, gpu: Gpu) -> tuple[Outcome, str] | None:
    """Outcome and reason if it did not; None if it did. A run on the CPU is an unplanned fallback and fails."""
    manifest = run.manifest
    if not manifest.torch:
        return "not_run", "the run did not import torch"
    if not manifest.rocm and manifest.cuda and manifest.gpu:
        return "not_run", f"ran on {manifest.gpu} with CUDA {manifest.cuda}; the plan is for {gpu.gfx}"
    if not manifest.gpu:
        return "failed", f"fallback: torch {manifest.torch} used no GPU, everything ran on the CPU"
    if manifest.gfx != gpu.gfx:
        return "not_run", f"ran on {manifest.gfx or 'an unknown target'}; the plan is for {gpu.gfx}"
    return None


def describe_environment(run: RunRecord) -> str:
    """GPU, target, HIP, torch and commit as one text."""
    manifest = run.manifest
    commit = f", commit {manifest.commit[:12]}" if manifest.commit else ", commit unknown"
    return f"{manifest.gpu} ({manifest.gfx}), HIP {manifest.rocm}, torch {manifest.torch}{commit}"
