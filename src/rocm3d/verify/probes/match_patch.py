"""Checks that the tree matches the patch: every changed file exists and has the recorded digest."""

from __future__ import annotations

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.workspace.journal import digest


def attempt(case: Case) -> Verdict:
    """Compares digests. The reason names at most 5 of the files that differ."""
    paths = [change.path for change in case.patch.changes]
    changed_paths = [change.path for change in case.patch.changes if _digest(case, change.path) != change.after]
    if changed_paths:
        reason = f"changed since the patch was applied: {', '.join(changed_paths[:5])}"
        return probe.verdict("failed", reason, paths)
    if not paths:
        return probe.verdict("skipped", "the patch changes no files")
    return probe.verdict("passed", checked=paths)


def _digest(case: Case, path: str) -> str | None:
    data = case.tree.read(path) if path in case.tree else None
    return None if data is None else digest(data)


probe = Probe(__name__, "static", attempt)
