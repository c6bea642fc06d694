"""Proves again, from the current files, that builds without ROCm see the same code as before the edits."""

from __future__ import annotations

from rocm3d.model.verdict import Verdict
from rocm3d.syntax.isolation import prove_isolation
from rocm3d.verify.probe import Case, Probe


def attempt(case: Case) -> Verdict:
    """not_run without the original files."""
    edited = [change.path for change in case.patch.changes if change.kind == "edited"]
    if not edited:
        reason = "no existing file was edited"
        return Verdict(level="static", probe=probe.name, outcome="skipped", reason=reason)
    failures, without_original, missing = [], [], []
    for path in edited:
        before, current = case.originals.get(path), case.tree.read(path) if path in case.tree else None
        if current is None:
            missing.append(path)
        elif before is None:
            without_original.append(path)
        elif not (proof := prove_isolation(path, before, current)).holds:
            failures.append(f"{path}: {proof.detail}")
    failures += [f"{path}: file is missing" for path in missing]
    if failures:
        reason = "; ".join(failures)
        return Verdict(level="static", probe=probe.name, outcome="failed", reason=reason, looked_at=tuple(edited))
    if without_original:
        reason = f"the originals are not on this machine: {', '.join(without_original)}"
        return Verdict(level="static", probe=probe.name, outcome="not_run", reason=reason)
    return Verdict(level="static", probe=probe.name, outcome="passed", looked_at=tuple(edited))


probe = Probe(__name__, "static", attempt)
