"""Scans the ported tree for findings that a planned edit should have removed."""

from __future__ import annotations

from rocm3d.model.finding import Finding
from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe


def attempt(case: Case) -> Verdict:
    """Edits that were refused or left for review do not count, as the patch reports them. Notes need no edit."""
    refused = {(item.path, item.recipe) for item in case.patch.refused}
    planned = [(edit, finding) for edit in case.plan.edits for finding in edit.findings if finding.severity != "note"]
    planned_keys = {_key(finding) for _, finding in planned}
    excused_keys = {_key(unfixed.finding) for unfixed in case.patch.left}
    excused_keys |= {_key(finding) for edit, finding in planned if (edit.path, edit.recipe) in refused}
    if not planned_keys:
        return probe.verdict("skipped", "the plan has no edits")
    expected_keys = planned_keys - excused_keys
    unfixed = [f"{item.location} {item.code}" for item in case.current_scan.findings if _key(item) in expected_keys]
    checked = sorted(f"{path}: {code}" for path, code, _ in expected_keys)
    if unfixed:
        return probe.verdict("failed", f"still found: {', '.join(unfixed[:5])}", checked)
    if not checked:
        return probe.verdict("skipped", "every planned edit was refused")
    return probe.verdict("passed", checked=checked)


def _key(finding: Finding) -> tuple[str, str, str | None]:
    """With the package: one code can apply to several packages, and an edit may concern only one of them."""
    return finding.path, finding.code, finding.package


probe = Probe(__name__, "static", attempt)
