"""Runs the backend checks of levels import, backend and numerics: one verdict for each package of the plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rocm3d.model.verdict import Level, Verdict
from rocm3d.verify.backends.environment import BackendCheckRequest, run_backend_check, with_kernel_evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.backend_check import BackendCheck, NumericCheck
    from rocm3d.model.package import Package
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.model.verdict import Outcome
    from rocm3d.verify.probe import Case

    MakeVerdict = Callable[[BackendCheck, str, str], Verdict]

_NO_CHECK: tuple[Outcome, str] = ("not_run", "no backend check exists")
_MAX_SHOWN = 6


def check_packages(case: Case, level: Level, probe: str, make_verdict: MakeVerdict) -> tuple[Verdict, ...]:
    """A verdict for each package. Packages without a check share one verdict for each reason."""
    if case.knowledge is None or case.environment.unavailable_reason:
        reason = case.environment.unavailable_reason or "no knowledge base loaded"
        return (Verdict(level=level, probe=probe, outcome="not_run", reason=reason),)
    return tuple(_verdicts(case, level, probe, make_verdict))


def _verdicts(case: Case, level: Level, probe: str, make_verdict: MakeVerdict) -> Iterator[Verdict]:
    assert case.knowledge is not None
    excluded: dict[tuple[Outcome, str], list[str]] = {}
    for package in planned_packages(case.plan, case.knowledge):
        request = package.request
        if request is None or (level != "import" and not request.probe):
            excluded.setdefault(package.exclusion or _NO_CHECK, []).append(package.package)
            continue
        level_request = replace(request, probe="") if level == "import" else request
        backend_check = with_kernel_evidence(
            run_backend_check(level_request, case.environment, case.knowledge), case.knowledge.backends
        )
        yield make_verdict(backend_check, probe, package.fallback_reason)
    for (outcome, reason), names in excluded.items():
        yield Verdict(level=level, probe=probe, outcome=outcome, reason=f"{reason}: {', '.join(names)}")


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


def import_verdict(backend_check: BackendCheck, probe: str, planned: str) -> Verdict:
    """Level import: the import works, and the module comes from the environment or the repository."""
    if backend_check.outcome != "imported":
        return _negative_verdict("import", backend_check, probe, planned)
    unexpected_modules = [module for module in backend_check.modules if module.origin == "elsewhere"]
    if unexpected_modules:
        module = unexpected_modules[0]
        detail = f"{module.name} comes from {module.file}, outside the environment and the repository"
        return _verdict("import", probe, "failed", f"{backend_check.label}: {detail}")
    return _verdict("import", probe, "passed", "", describe_modules(backend_check))


def backend_verdict(backend_check: BackendCheck, probe: str, planned: str) -> Verdict:
    """Level backend: the operation ran on the GPU with kernels of this package."""
    if backend_check.outcome != "accelerated":
        return _negative_verdict("backend", backend_check, probe, planned)
    return _verdict("backend", probe, "passed", "", describe_evidence(backend_check))


def numerics_verdict(backend_check: BackendCheck, probe: str, planned: str) -> Verdict:
    """Level numerics: results agree with the reference. Results of an unplanned fallback prove nothing."""
    failed_checks = [check for check in backend_check.checks if not check.agrees]
    if failed_checks:
        reason = "; ".join(f"{check.name} {check.reason}" for check in failed_checks[:_MAX_SHOWN])
        return _verdict("numerics", probe, "failed", f"{backend_check.label}: {reason}")
    if backend_check.outcome == "broken":
        return _verdict("numerics", probe, "not_run", f"{backend_check.label}: no result: {backend_check.reason}")
    if backend_check.outcome == "fallback" and not planned:
        return _verdict(
            "numerics", probe, "not_run", f"{backend_check.label}: only the fallback ran: {backend_check.reason}"
        )
    if backend_check.outcome != "accelerated" or not backend_check.checks:
        return _negative_verdict("numerics", backend_check, probe, planned)
    return _verdict(
        "numerics",
        probe,
        "passed",
        "",
        tuple(f"{backend_check.label}: {describe_check(item)}" for item in backend_check.checks),
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


def _negative_verdict(level: Level, backend_check: BackendCheck, probe: str, planned: str) -> Verdict:
    reason = f"{backend_check.label}: {backend_check.reason or backend_check.outcome}"
    if backend_check.outcome in ("absent", "not_run"):
        return _verdict(level, probe, "not_run", reason)
    if backend_check.outcome == "fallback" and planned:
        return _verdict(
            level, probe, "skipped", f"{backend_check.label}: planned fallback: {planned}: {backend_check.reason}"
        )
    label = "fallback" if backend_check.outcome == "fallback" else "broken"
    return _verdict(
        level,
        probe,
        "failed",
        f"{backend_check.label}: {label}: {backend_check.reason}",
        describe_modules(backend_check),
    )


def _verdict(level: Level, probe: str, outcome: Outcome, reason: str, checked: tuple[str, ...] = ()) -> Verdict:
    return Verdict(level=level, probe=probe, outcome=outcome, reason=reason, looked_at=checked)
