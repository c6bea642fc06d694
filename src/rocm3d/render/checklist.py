"""Checklists of a proposal: tested and not tested. Only checks that passed and covered this code are ticked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rocm3d.render.markdown import code, escape

if TYPE_CHECKING:
    from rocm3d.model.upstream import Proposal
    from rocm3d.model.verdict import Verdict
    from rocm3d.render.html import Report

_SHOWN = 4
# What a level checks, for readers who do not know rocm3d.
_LEVELS = {
    "resolve": "an install resolves",
    "compile": "the extensions compile for AMD targets",
    "nvidia": "nvcc still compiles them",
    "import": "the packages import",
    "backend": "the real backend runs on the GPU",
    "numerics": "results agree with a reference",
    "workload": "a bounded workload on the GPU",
}
_PROBES = {
    "prove_isolation": "edited files are the same without ROCm",
    "match_patch": "the files match the patch",
    "find_leftovers": "no edited pattern remains",
    "match_kernels": "the AMD build has the kernels of the CUDA build",
}
_OF_EDITS = ("prove_isolation", "find_leftovers")
# A reason about one file starts with its path and, in parentheses, its extension module.
_OF_FILE = re.compile(r"(?P<file>[^\s:]+\.\w+)(?: \([^)]*\))?: (?P<why>.+)", re.DOTALL)


def tested(proposal: Proposal, report: Report) -> Iterator[str]:
    """Failed checks first, then passed ones with what they covered."""
    bare = without_guard(proposal)
    failed = [item for item in proposal.checks if item.outcome == "failed"]
    yield from (f"- [ ] **failed**: {_asked(item)}: {escape(item.reason)}" for item in failed)
    passed: dict[tuple[str, str], list[Verdict]] = {}
    for item in proposal.checks:
        if item.outcome == "passed":
            passed.setdefault((item.level, item.probe), []).append(item)
    for found in passed.values():
        seen = found[0].looked_at if len(found) == 1 else tuple(item.looked_at[0] for item in found)
        # A closed-list edit is not a proof: such files are listed as not compared.
        seen = tuple(text for text in seen if found[0].probe != "prove_isolation" or text not in bare)
        if seen:
            yield f"- [x] {_asked(found[0])}{_bounds(proposal, found[0], report)}: {_some(seen)}{_headers(found)}"
    if proposal.part == "repository":
        for view in report.views:
            if not view.later and not view.run.manifest.gpu:
                yield f"- run {code(view.run.name)} without a GPU: {escape(view.sentence)}"
    if not failed and not passed:
        yield "Nothing. No check covered this code."


def not_tested(proposal: Proposal, report: Report) -> Iterator[str]:
    """Every level that neither passed nor failed, with its reason; then what only the owners of the code can test."""
    missing = [item for item in proposal.checks if item.outcome in ("not_run", "skipped")]
    if not proposal.edited:
        missing = [item for item in missing if item.probe not in _OF_EDITS]
    yield from _uncompared(proposal)
    yield from _reasons(missing)
    if proposal.part == "dependency":
        yield "- [ ] everything: the checks of the port did not cover this code"
    if proposal.part == "repository":
        # Reasons that are already listed are left out.
        told = [item.reason for item in missing] + ["not requested"]
        others = (item for item in report.evidence.missing if not any(text in item.reason for text in told))
        yield from (f"- [ ] {escape(item.link)}: not obtained; {escape(item.reason)}" for item in others)
        for unseen in report.patch.unseen:
            yield f"- [ ] {code(unseen.name)}: not checked; {escape(unseen.reason)}"
    yield "- [ ] your own tests on an NVIDIA GPU: not run with this change"


def without_guard(proposal: Proposal) -> list[str]:
    """Files with a closed-list edit: only a comparison of nvcc's output can show that they are the same."""
    return [item.path for item in proposal.edited if item.proof and item.proof.kind == "closed-list"]


def _uncompared(proposal: Proposal) -> Iterator[str]:
    units = [item.looked_at[0] for item in proposal.checks if item.level == "nvidia" and item.outcome == "passed"]
    for path in without_guard(proposal):
        if not any(unit.startswith((f"{path} ", f"{path},")) or unit == path for unit in units):
            yield f"- [ ] {code(path)}: nvcc's output before and after the edit was not compared"


def _reasons(missing: Iterable[Verdict]) -> Iterator[str]:
    """One line per reason, with the names of the files it applies to."""
    found: dict[tuple[str, str], list[str]] = {}
    for item in missing:
        about = _OF_FILE.fullmatch(item.reason)
        outcome = item.outcome.replace("_", " ")
        files = found.setdefault((_asked(item), f"{outcome}; {about['why'] if about else item.reason}"), [])
        files += [about["file"]] if about else []
    for (asked, reason), files in found.items():
        yield f"- [ ] {asked}: {escape(reason)}{f' ({_some(tuple(files))})' if files else ''}"


def _bounds(proposal: Proposal, item: Verdict, report: Report) -> str:
    """The targets, and whether only part of the code was covered."""
    targets = ", ".join(report.verdicts.targets) if item.level == "compile" else ""
    whole = all(other.outcome == "passed" for other in proposal.checks if other.level == item.level)
    said = [f"for {targets}" if targets else "", "" if whole or item.level == "static" else "in part"]
    return f" ({'; '.join(text for text in said if text)})" if any(said) else ""


def _headers(found: list[Verdict]) -> str:
    """The headers that the compiler used: some may be declarations by rocm3d."""
    lines = (text for item in found for text in item.looked_at[1:] if text.startswith("headers: "))
    seen = dict.fromkeys(text.removeprefix("headers: ") for text in lines)
    return f"; headers: {escape(' / '.join(seen))}" if seen else ""


def _asked(item: Verdict) -> str:
    """What a check is about: by its probe, or else by its level."""
    return _PROBES.get(item.probe) or _LEVELS.get(item.level) or escape(f"{item.level} {item.probe}".replace("_", " "))


def _some(texts: tuple[str, ...]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"{escape(', '.join(texts[:_SHOWN]))}{more}"
