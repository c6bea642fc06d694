"""Checklists of a proposal: tested and not tested. Only checks that passed and covered this code are ticked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rocm3d.render.markdown import code, escape

if TYPE_CHECKING:
    from rocm3d.model.upstream import Proposal
    from rocm3d.model.verdict import Verdict
    from rocm3d.render.html import PortReportView

_MAX_SHOWN = 4
# What a level checks, for readers who do not know rocm3d.
_LEVEL_TEXT = {
    "resolve": "an install resolves",
    "compile": "the extensions compile for AMD targets",
    "nvidia": "nvcc still compiles them",
    "import": "the packages import",
    "backend": "the real backend runs on the GPU",
    "numerics": "results agree with a reference",
    "workload": "a bounded workload on the GPU",
}
_PROBE_TEXT = {
    "prove_isolation": "edited files are the same without ROCm",
    "match_patch": "the files match the patch",
    "find_leftovers": "no edited pattern remains",
    "match_kernels": "the AMD build has the kernels of the CUDA build",
}
_EDIT_PROBES = ("prove_isolation", "find_leftovers")
# A reason about one file starts with its path and, in parentheses, its extension module.
_FILE_REASON = re.compile(r"(?P<file>[^\s:]+\.\w+)(?: \([^)]*\))?: (?P<why>.+)", re.DOTALL)


def tested_lines(proposal: Proposal, report: PortReportView) -> Iterator[str]:
    """Failed checks first, then passed ones with what they covered."""
    unguarded = unguarded_files(proposal)
    failed = [item for item in proposal.checks if item.outcome == "failed"]
    yield from (f"- [ ] **failed**: {_subject(item)}: {escape(item.reason)}" for item in failed)
    passed: dict[tuple[str, str], list[Verdict]] = {}
    for item in proposal.checks:
        if item.outcome == "passed":
            passed.setdefault((item.level, item.probe), []).append(item)
    for verdicts in passed.values():
        covered = verdicts[0].looked_at if len(verdicts) == 1 else tuple(item.looked_at[0] for item in verdicts)
        # A closed-list edit is not a proof: such files are listed as not compared.
        covered = tuple(text for text in covered if verdicts[0].probe != "prove_isolation" or text not in unguarded)
        if covered:
            subject = f"{_subject(verdicts[0])}{_scope_text(proposal, verdicts[0], report)}"
            yield f"- [x] {subject}: {_first_few(covered)}{_headers_text(verdicts)}"
    if proposal.part == "repository":
        for view in report.views:
            if not view.later and not view.run.manifest.gpu:
                yield f"- run {code(view.run.name)} without a GPU: {escape(view.sentence)}"
    if not failed and not passed:
        yield "Nothing. No check covered this code."


def not_tested_lines(proposal: Proposal, report: PortReportView) -> Iterator[str]:
    """Every level that neither passed nor failed, with its reason; then what only the owners of the code can test."""
    missing = [item for item in proposal.checks if item.outcome in ("not_run", "skipped")]
    if not proposal.edited:
        missing = [item for item in missing if item.probe not in _EDIT_PROBES]
    yield from _not_compared_lines(proposal)
    yield from _reason_lines(missing)
    if proposal.part == "dependency":
        yield "- [ ] everything: the checks of the port did not cover this code"
    if proposal.part == "repository":
        # Reasons that are already listed are left out.
        known_reasons = [item.reason for item in missing] + ["not requested"]
        others = (item for item in report.evidence.missing if not any(text in item.reason for text in known_reasons))
        yield from (f"- [ ] {escape(item.link)}: not obtained; {escape(item.reason)}" for item in others)
        for unchecked in report.patch.unseen:
            yield f"- [ ] {code(unchecked.name)}: not checked; {escape(unchecked.reason)}"
    yield "- [ ] your own tests on an NVIDIA GPU: not run with this change"


def unguarded_files(proposal: Proposal) -> list[str]:
    """Files with a closed-list edit: only a comparison of nvcc's output can show that they are the same."""
    return [item.path for item in proposal.edited if item.proof and item.proof.kind == "closed-list"]


def _not_compared_lines(proposal: Proposal) -> Iterator[str]:
    units = [item.looked_at[0] for item in proposal.checks if item.level == "nvidia" and item.outcome == "passed"]
    for path in unguarded_files(proposal):
        if not any(unit.startswith((f"{path} ", f"{path},")) or unit == path for unit in units):
            yield f"- [ ] {code(path)}: nvcc's output before and after the edit was not compared"


def _reason_lines(missing: Iterable[Verdict]) -> Iterator[str]:
    """One line per reason, with the names of the files it applies to."""
    files_by_reason: dict[tuple[str, str], list[str]] = {}
    for item in missing:
        match = _FILE_REASON.fullmatch(item.reason)
        outcome = item.outcome.replace("_", " ")
        files = files_by_reason.setdefault((_subject(item), f"{outcome}; {match['why'] if match else item.reason}"), [])
        files += [match["file"]] if match else []
    for (subject, reason), files in files_by_reason.items():
        yield f"- [ ] {subject}: {escape(reason)}{f' ({_first_few(tuple(files))})' if files else ''}"


def _scope_text(proposal: Proposal, verdict: Verdict, report: PortReportView) -> str:
    """The targets, and whether only part of the code was covered."""
    targets = ", ".join(report.verdicts.targets) if verdict.level == "compile" else ""
    is_complete = all(other.outcome == "passed" for other in proposal.checks if other.level == verdict.level)
    limits = [f"for {targets}" if targets else "", "" if is_complete or verdict.level == "static" else "in part"]
    return f" ({'; '.join(text for text in limits if text)})" if any(limits) else ""


def _headers_text(verdicts: list[Verdict]) -> str:
    """The headers that the compiler used: some may be declarations by rocm3d."""
    lines = (text for item in verdicts for text in item.looked_at[1:] if text.startswith("headers: "))
    headers = dict.fromkeys(text.removeprefix("headers: ") for text in lines)
    return f"; headers: {escape(' / '.join(headers))}" if headers else ""


def _subject(verdict: Verdict) -> str:
    """What a check is about: by its probe, or else by its level."""
    return (
        _PROBE_TEXT.get(verdict.probe)
        or _LEVEL_TEXT.get(verdict.level)
        or escape(f"{verdict.level} {verdict.probe}".replace("_", " "))
    )


def _first_few(texts: tuple[str, ...]) -> str:
    more = f" and {len(texts) - _MAX_SHOWN} more" if len(texts) > _MAX_SHOWN else ""
    return f"{escape(', '.join(texts[:_MAX_SHOWN]))}{more}"
