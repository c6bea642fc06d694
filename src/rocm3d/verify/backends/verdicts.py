"""Verdicts of backend checks: an unplanned fallback is failed, a planned one skipped, an absent package not_run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Level, Verdict

if TYPE_CHECKING:
    from rocm3d.model.backend_check import BackendCheck, NumericCheck
    from rocm3d.model.verdict import Outcome

_MAX_SHOWN = 6


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
