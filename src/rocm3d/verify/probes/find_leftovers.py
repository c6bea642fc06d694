"""Scans the ported tree for what the plan meant to edit and is still there."""

from __future__ import annotations

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe


def attempt(case: Case) -> Verdict:
    """What was refused or left for a person is no leftover: it was reported as such."""
    refused = {(item.path, item.recipe) for item in case.patch.refused}
    meant = {(edit.path, found.code) for edit in case.plan.edits for found in edit.findings}
    reported = {(left.finding.path, left.finding.code) for left in case.patch.left}
    excused = reported | {
        (edit.path, found.code)
        for edit in case.plan.edits
        for found in edit.findings
        if (edit.path, edit.recipe) in refused
    }
    if not meant:
        return Verdict(level="static", probe=probe.name, outcome="skipped", reason="the plan has no edit")
    left = [f"{f.location} {f.code}" for f in case.now.findings if (f.path, f.code) in meant - excused]
    looked = tuple(sorted(f"{path}: {code}" for path, code in meant - excused))
    if left:
        reason = f"still found: {', '.join(left[:5])}"
        return Verdict(level="static", probe=probe.name, outcome="failed", reason=reason, looked_at=looked)
    if not looked:
        return Verdict(level="static", probe=probe.name, outcome="skipped", reason="every planned edit was refused")
    return Verdict(level="static", probe=probe.name, outcome="passed", looked_at=looked)


probe = Probe(__name__, "static", attempt)
