"""Proves again, from the current files, that builds without ROCm see the same code as before the edits."""

from __future__ import annotations

from rocm3d.model.verdict import Verdict
from rocm3d.syntax.isolation import prove_isolation
from rocm3d.syntax.isolation_facts import read_facts
from rocm3d.verify.probe import Case, Probe


def attempt(case: Case) -> Verdict:
    """not_run without the original files."""
    edited = [change.path for change in case.patch.changes if change.kind == "edited"]
    if not edited:
        return probe.verdict("skipped", "no existing file was edited")
    failures, without_original, missing = [], [], []
    facts = read_facts(case.tree, without=case.patch.folder)
    for path in edited:
        before, current = case.originals.get(path), case.tree.read(path) if path in case.tree else None
        if current is None:
            missing.append(path)
        elif before is None:
            without_original.append(path)
        elif not (proof := prove_isolation(path, before, current, facts)).holds:
            failures.append(f"{path}: {proof.detail}")
    failures += [f"{path}: file is missing" for path in missing]
    if failures:
        return probe.verdict("failed", "; ".join(failures), edited)
    if without_original:
        return probe.verdict("not_run", f"the originals are not on this machine: {', '.join(without_original)}")
    return probe.verdict("passed", checked=edited)


probe = Probe(__name__, "static", attempt)
