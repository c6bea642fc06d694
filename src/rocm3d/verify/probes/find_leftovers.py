"""Scans the ported tree for what the plan meant to edit and is still there."""

from __future__ import annotations

from rocm3d.model.finding import Finding
from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe


def attempt(case: Case) -> Verdict:
    """What was refused or left for a person is no leftover: it was reported as such. A note needs no change at all."""
    refused = {(item.path, item.recipe) for item in case.patch.refused}
    planned = [(edit, found) for edit in case.plan.edits for found in edit.findings if found.severity != "note"]
    meant = {_key(found) for _, found in planned}
    excused = {_key(left.finding) for left in case.patch.left}
    excused |= {_key(found) for edit, found in planned if (edit.path, edit.recipe) in refused}
    if not meant:
        return Verdict(level="static", probe=probe.name, outcome="skipped", reason="the plan has no edit")
    left = [f"{found.location} {found.code}" for found in case.now.findings if _key(found) in meant - excused]
    looked = tuple(sorted(f"{path}: {code}" for path, code, _ in meant - excused))
    if left:
        reason = f"still found: {', '.join(left[:5])}"
        return Verdict(level="static", probe=probe.name, outcome="failed", reason=reason, looked_at=looked)
    if not looked:
        return Verdict(level="static", probe=probe.name, outcome="skipped", reason="every planned edit was refused")
    return Verdict(level="static", probe=probe.name, outcome="passed", looked_at=looked)


def _key(found: Finding) -> tuple[str, str, str | None]:
    """An edit may be about one package alone, of those that a code speaks of."""
    return found.path, found.code, found.package


probe = Probe(__name__, "static", attempt)
