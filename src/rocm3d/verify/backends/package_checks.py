"""Backend checks of levels import, backend and numerics: the packages of the plan, and one verdict for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.backend_check import BackendCheck, NumericCheck
from rocm3d.model.package import Package
from rocm3d.model.plan import DependencyDecision, Plan
from rocm3d.model.verdict import NO_BACKEND_CHECK, Outcome, Verdict
from rocm3d.verify.backends.environment import BackendCheckRequest, run_backend_check
from rocm3d.verify.probe import Case, Probe, UncheckedError

MakeVerdict = Callable[[BackendCheck, Probe, str], Verdict]

_NO_CHECK: tuple[Outcome, str] = ("not_run", NO_BACKEND_CHECK)
_MAX_SHOWN = 6


@dataclass(frozen=True)
class PlannedPackage:
    """One package. `fallback_reason`: why a fallback is planned. `exclusion`: why there is nothing to check."""

    package: str
    request: BackendCheckRequest | None = None
    fallback_reason: str = ""
    exclusion: tuple[Outcome, str] | None = None


def planned_packages(plan: Plan, knowledge: Knowledge) -> Iterator[PlannedPackage]:
    """The base packages first, as every check needs them; then each package with a decision, once."""
    base_ids = [name for suite in knowledge.suites.values() if suite.base for name in suite.packages]
    for name in base_ids:
        package = knowledge.packages[name]
        yield PlannedPackage(name, BackendCheckRequest(name, package.imports, package.probe))
    known_ids = set(base_ids)
    for decision in plan.decisions:
        record = knowledge.packages.get(decision.package or "")
        if record is not None and record.id not in known_ids:
            known_ids.add(record.id)
            yield _planned_package(decision, record)


def _planned_package(decision: DependencyDecision, package: Package) -> PlannedPackage:
    exclusion = _exclusion(decision, package)
    if exclusion is not None:
        return PlannedPackage(package.id, exclusion=exclusion)
    route = next((route for route in package.routes if route.id == decision.route), None)
    is_fallback = decision.decision in ("stub", "substitute") or (route is not None and route.fallback)
    fallback_reason = f"the plan uses route {decision.route}" if is_fallback else ""
    return PlannedPackage(
        package.id, BackendCheckRequest(package.id, package.imports, package.probe, decision.env), fallback_reason
    )


def _exclusion(decision: DependencyDecision, package: Package) -> tuple[Outcome, str] | None:
    if decision.decision == "drop":
        return "skipped", "dropped by the plan"
    if decision.decision == "blocked":
        return "not_run", "blocked: the plan has no route"
    if not package.imports:
        return "skipped", "has no import name"
    if decision.import_kept:
        return None
    if decision.decision in ("stub", "substitute"):
        return "skipped", "planned fallback under another import name"
    return "not_run", "the planned route uses another import name"


def check_packages(case: Case, probe: Probe, make_verdict: MakeVerdict) -> Iterator[Verdict]:
    """A verdict for each package. Packages without a check share one verdict for each reason.

    The target of a verdict is the GPU that torch reports; its check comes first.
    """
    if case.environment.unavailable_reason:
        raise UncheckedError(case.environment.unavailable_reason)
    excluded: dict[tuple[Outcome, str], list[str]] = {}
    target = ""
    for package in planned_packages(case.plan, case.knowledge):
        request = package.request
        if request is None or (probe.level != "import" and not request.probe):
            excluded.setdefault(package.exclusion or _NO_CHECK, []).append(package.package)
            continue
        level_request = replace(request, probe="") if probe.level == "import" else request
        backend_check = run_backend_check(level_request, case.environment, case.knowledge)
        target = target or _amd_target(backend_check)
        verdict = make_verdict(backend_check, probe, package.fallback_reason)
        yield verdict.model_copy(update={"subject": package.package, "target": target})
    for (outcome, reason), names in excluded.items():
        yield probe.verdict(outcome, f"{reason}: {', '.join(names)}")


def _amd_target(backend_check: BackendCheck) -> str:
    """Without its features: `gfx942` of `gfx942:sramecc+:xnack-`. Empty for other GPUs."""
    architecture = str(backend_check.facts.get("architecture", "")).partition(":")[0]
    return architecture if architecture.startswith("gfx") else ""


def import_verdict(backend_check: BackendCheck, probe: Probe, planned: str) -> Verdict:
    """Level import: the import works, and the module comes from the environment or the repository."""
    if backend_check.outcome != "imported":
        return _negative_verdict(backend_check, probe, planned)
    unexpected_modules = [module for module in backend_check.modules if module.origin == "elsewhere"]
    if unexpected_modules:
        module = unexpected_modules[0]
        detail = f"{module.name} comes from {module.file}, outside the environment and the repository"
        return probe.verdict("failed", f"{backend_check.label}: {detail}")
    return probe.verdict("passed", "", describe_modules(backend_check))


def backend_verdict(backend_check: BackendCheck, probe: Probe, planned: str) -> Verdict:
    """Level backend: the operation ran on the GPU with kernels of this package, and torch is a ROCm build."""
    facts = backend_check.facts
    if backend_check.outcome != "accelerated":
        return _negative_verdict(backend_check, probe, planned)
    if "hip" in facts and not facts["hip"]:
        return probe.verdict("failed", f"{backend_check.label}: {facts.get('version', '')} is not a ROCm build")
    return probe.verdict("passed", "", describe_evidence(backend_check))


def numerics_verdict(backend_check: BackendCheck, probe: Probe, planned: str) -> Verdict:
    """Level numerics: results agree with the reference. Results of an unplanned fallback prove nothing."""
    failed_checks = [check for check in backend_check.checks if not check.agrees]
    if failed_checks:
        reason = "; ".join(f"{check.name} {check.reason}" for check in failed_checks[:_MAX_SHOWN])
        return probe.verdict("failed", f"{backend_check.label}: {reason}")
    if backend_check.outcome == "broken":
        return probe.verdict("not_run", f"{backend_check.label}: no result: {backend_check.reason}")
    if backend_check.outcome == "fallback" and not planned:
        return probe.verdict("not_run", f"{backend_check.label}: only the fallback ran: {backend_check.reason}")
    if backend_check.outcome != "accelerated" or not backend_check.checks:
        return _negative_verdict(backend_check, probe, planned)
    return probe.verdict(
        "passed", "", (f"{backend_check.label}: {describe_check(item)}" for item in backend_check.checks)
    )


def describe_evidence(backend_check: BackendCheck) -> tuple[str, ...]:
    """Texts for `looked_at`: module files, loaded libraries, backends of the kernels, facts and comparisons."""
    texts = [*describe_modules(backend_check), *(f"library {path}" for path in backend_check.libraries[:_MAX_SHOWN])]
    if backend_check.backends:
        texts.append(f"kernels of {', '.join(backend_check.backends)}")
    facts = [f"{name} {value}" for name, value in backend_check.facts.items() if isinstance(value, str)]
    return (*texts, *facts, *(describe_check(check) for check in backend_check.checks))


def describe_modules(backend_check: BackendCheck) -> tuple[str, ...]:
    """One text for each module, with version and file."""
    return tuple(f"{item.name} {item.version} from {item.file}".replace("  ", " ") for item in backend_check.modules)


def describe_check(check: NumericCheck) -> str:
    """One comparison as a text, such as `forward within fp32-operator, largest error 1e-06`."""
    if not check.tolerance:
        return f"{check.name} {check.reason or 'as expected'}"
    error = "" if check.max_error is None else f", largest error {check.max_error:.3g}"
    return f"{check.name} {'within' if check.agrees else 'outside'} {check.tolerance}{error}"


def _negative_verdict(backend_check: BackendCheck, probe: Probe, planned: str) -> Verdict:
    reason = f"{backend_check.label}: {backend_check.reason or backend_check.outcome}"
    if backend_check.outcome in ("absent", "not_run"):
        return probe.verdict("not_run", reason)
    if backend_check.outcome == "fallback" and planned:
        return probe.verdict("skipped", f"{backend_check.label}: planned fallback: {planned}: {backend_check.reason}")
    label = "fallback" if backend_check.outcome == "fallback" else "broken"
    reason = f"{backend_check.label}: {label}: {backend_check.reason}"
    return probe.verdict("failed", reason, describe_modules(backend_check))
