"""Verdicts of backend checks: an unplanned fallback is failed, a planned one skipped, an absent package not_run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Level, Verdict

if TYPE_CHECKING:
    from rocm3d.model.look import NumericCheck, BackendCheck
    from rocm3d.model.verdict import Outcome

_MOST = 6


def imported(look: BackendCheck, probe: str, planned: str) -> Verdict:
    """Level import: the import works, and the module comes from the environment or the repository."""
    if look.outcome != "imported":
        return _otherwise("import", look, probe, planned)
    strange = [module for module in look.modules if module.origin == "elsewhere"]
    if strange:
        where = f"{strange[0].name} comes from {strange[0].file}, outside the environment and the repository"
        return _verdict("import", probe, "failed", f"{look.label}: {where}")
    return _verdict("import", probe, "passed", "", modules(look))


def accelerated(look: BackendCheck, probe: str, planned: str) -> Verdict:
    """Level backend: the operation ran on the GPU with kernels of this package."""
    if look.outcome != "accelerated":
        return _otherwise("backend", look, probe, planned)
    return _verdict("backend", probe, "passed", "", evidence(look))


def agreed(look: BackendCheck, probe: str, planned: str) -> Verdict:
    """Level numerics: results agree with the reference. Results of an unplanned fallback prove nothing."""
    wrong = [check for check in look.checks if not check.agrees]
    if wrong:
        reason = "; ".join(f"{check.name} {check.reason}" for check in wrong[:_MOST])
        return _verdict("numerics", probe, "failed", f"{look.label}: {reason}")
    if look.outcome == "broken":
        return _verdict("numerics", probe, "not_run", f"{look.label}: no result: {look.reason}")
    if look.outcome == "fallback" and not planned:
        return _verdict("numerics", probe, "not_run", f"{look.label}: only the fallback ran: {look.reason}")
    if look.outcome != "accelerated" or not look.checks:
        return _otherwise("numerics", look, probe, planned)
    return _verdict("numerics", probe, "passed", "", tuple(f"{look.label}: {result(item)}" for item in look.checks))


def evidence(look: BackendCheck) -> tuple[str, ...]:
    """Texts for `looked_at`: module files, loaded libraries, backends of the kernels, facts and comparisons."""
    found = [*modules(look), *(f"library {path}" for path in look.libraries[:_MOST])]
    if look.backends:
        found.append(f"kernels of {', '.join(look.backends)}")
    facts = [f"{name} {value}" for name, value in look.facts.items() if isinstance(value, str)]
    return (*found, *facts, *(result(check) for check in look.checks))


def modules(look: BackendCheck) -> tuple[str, ...]:
    """One text for each module, with version and file."""
    return tuple(f"{item.name} {item.version} from {item.file}".replace("  ", " ") for item in look.modules)


def result(check: NumericCheck) -> str:
    """One comparison as a text, such as `forward within fp32-operator, largest error 1e-06`."""
    if not check.tolerance:
        return f"{check.name} {check.reason or 'as expected'}"
    error = "" if check.max_error is None else f", largest error {check.max_error:.3g}"
    return f"{check.name} {'within' if check.agrees else 'outside'} {check.tolerance}{error}"


def _otherwise(level: Level, look: BackendCheck, probe: str, planned: str) -> Verdict:
    reason = f"{look.label}: {look.reason or look.outcome}"
    if look.outcome in ("absent", "not_run"):
        return _verdict(level, probe, "not_run", reason)
    if look.outcome == "fallback" and planned:
        return _verdict(level, probe, "skipped", f"{look.label}: planned fallback: {planned}: {look.reason}")
    word = "fallback" if look.outcome == "fallback" else "broken"
    return _verdict(level, probe, "failed", f"{look.label}: {word}: {look.reason}", modules(look))


def _verdict(level: Level, probe: str, outcome: Outcome, reason: str, looked_at: tuple[str, ...] = ()) -> Verdict:
    return Verdict(level=level, probe=probe, outcome=outcome, reason=reason, looked_at=looked_at)
