"""Drafts of issues and pull requests for upstream projects: short, with what was tested and what was not.

Only checks that passed and covered the proposed code are ticked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rocm3d import __version__
from rocm3d.model.counted import counted
from rocm3d.render.finding_outcomes import FindingOutcome, finding_outcomes
from rocm3d.render.grouping import group_by
from rocm3d.render.markdown import code, escape, section, table
from rocm3d.render.run_text import hardware_text
from rocm3d.render.rungs import rung_line
from rocm3d.render.sanitize import clean
from rocm3d.render.verdict_groups import VerdictGroup, verdict_groups

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.package import Licence
    from rocm3d.model.upstream import DraftKind, EditedFile, Fix, Proposal
    from rocm3d.model.verdict import Verdict
    from rocm3d.render.html import PortReportView
    from rocm3d.render.run_view import RunView

_MAX_ROWS, _MAX_FILES, _MAX_TITLE = 15, 6, 72
_UNRESOLVED = ("left for a person", "left out")
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
_IN_PATCH = {"edited": "yes", "additive": "install files", "left for a person": "no", "left out": "no"}


@dataclass(frozen=True)
class DraftContext:
    """Input of a draft besides the proposal. `name` is the ported repository, `fixes` are the ledger entries of the
    port's other parts by name, and `manual_changes` are files that were changed after the port."""

    report: PortReportView
    knowledge: Knowledge
    name: str = ""
    fixes: Mapping[str, Fix] = field(default_factory=dict)
    manual_changes: tuple[str, ...] = ()


def title(proposal: Proposal, kind: DraftKind, context: DraftContext) -> str:
    """At most 72 characters."""
    if kind == "issue":
        positions = sum(len(item.positions) for item in _cuda_assumptions(proposal, context))
        subject = f"{counted(positions, 'place')} assume{'s' if positions == 1 else ''} CUDA"
        text = f"Building with ROCm: {subject}" if positions else "Building with ROCm"
    elif proposal.edited:
        text = f"Guarded edits for ROCm ({counted(len(proposal.edited), 'file')})"
    else:
        text = "Install files for ROCm (no existing file is edited)"
    return clean(text)[:_MAX_TITLE]


def body(proposal: Proposal, kind: DraftKind, context: DraftContext) -> str:
    """Deterministic: the text contains neither dates nor the machine."""
    parts = (
        _opening(proposal, kind, context),
        _cuda_locations(proposal, context) if kind == "issue" else (),
        _edits(proposal, kind, context),
        _limitations(proposal, context),
        section("Tested"),
        _tested_lines(proposal, context.report),
        section("Not tested"),
        _not_tested_lines(proposal, context.report),
        _not_changed(proposal, context),
        _licence_notes(proposal, context),
    )
    lines = [line for part in parts for line in part]
    return "\n".join([*lines, "", f"Prepared with rocm3d {__version__}."]) + "\n"


def before_sending(proposal: Proposal, kind: DraftKind, context: DraftContext, fix: str) -> str:
    """A checklist for the sender; not part of the draft itself."""
    return "\n".join(_to_do_lines(proposal, kind, context, fix)) + "\n"


def _opening(proposal: Proposal, kind: DraftKind, context: DraftContext) -> Iterator[str]:
    if kind == "issue":
        yield "This code assumes CUDA in the lines listed below. A patch for ROCm torch (HIP, AMD GPUs) is attached."
        yield f"Would you accept it as a pull request? {_compile_sentence(proposal)}".rstrip()
    elif proposal.edited:
        files = counted(len(proposal.edited), "file")
        yield f"Edits {files} for ROCm torch (HIP, AMD GPUs). {_compile_sentence(proposal)}".rstrip()
    else:
        yield "Adds install files for ROCm (AMD GPUs). No existing file is edited, and nothing imports the new ones."
    yield from _isolation(proposal)
    plan = context.report.plan
    base = f", {escape(plan.base.title)}" if plan.base else ""
    yield f"\nPlanned for {escape(plan.gpu.title)} ({code(plan.gpu.gfx)}){base}. {_run_sentence(context)}"
    yield f"State of the port: {rung_line(context.report.state)}."
    if proposal.part == "submodule":
        yield f"Found while porting {escape(context.name)}, which has this as a submodule."
    if proposal.part == "dependency":
        yield f"Found while porting {escape(context.name)}, which installs this from git."
    if proposal.commit:
        yield f"Made for commit {code(proposal.commit)}."
    if context.manual_changes and proposal.part == "repository":
        yield f"The port has further changes that are not in this patch: {_first_files(context.manual_changes)}."
    for name, fix in context.fixes.items() if proposal.part == "repository" else ():
        state = f"{fix.state}: {', '.join(fix.links)}" if fix.links else "not sent yet"
        yield f"Also needs a change in {code(name)} ({state}); until then it is a patch in the folder below."


def _compile_sentence(proposal: Proposal) -> str:
    """One sentence from the compile verdicts."""
    outcomes = {item.outcome for item in proposal.checks if item.level == "compile"}
    if "failed" in outcomes:
        return "**It does not compile for AMD targets yet: see below.**"
    if "passed" in outcomes:
        partial = "Part of it compiles for AMD targets; the rest was not tried"
        return f"{partial if 'not_run' in outcomes else 'It compiles for AMD targets'}: see below."
    return "It was not compiled." if _is_native(proposal) else ""


def _isolation(proposal: Proposal) -> Iterator[str]:
    unguarded, unproven = _unguarded_files(proposal), [item.path for item in proposal.edited if not item.is_proven]
    if proposal.edited and not unproven:
        subject = f"Except in {_join_code(unguarded)}, every" if unguarded else "Every"
        yield f"{subject} edit is guarded: a build or a run without ROCm sees the same code as before."
    if unguarded:
        yield f"{_join_code(unguarded)}: contains an edit that cannot be guarded; see the table."
    if unproven:
        yield f"**Not proven to be the same without ROCm: {_join_code(unproven)}.**"


def _run_sentence(context: DraftContext) -> str:
    runs = (
        f"Run {code(view.run.name)} on {escape(hardware_text(view.run))}: {escape(view.sentence)}"
        for view in _current_runs(context.report, on_gpu=True)
    )
    return " ".join(runs) or "**Nothing was run on a GPU. Code that compiles may still be wrong.**"


def _current_runs(report: PortReportView, *, on_gpu: bool) -> list[RunView]:
    """The latest run of each name, with or without a GPU."""
    return [view for view in report.views if not view.later and bool(view.run.manifest.gpu) == on_gpu]


def _cuda_locations(proposal: Proposal, context: DraftContext) -> Iterator[str]:
    outcomes = _cuda_assumptions(proposal, context)
    yield from section("Where CUDA is assumed")
    rows = (
        (code(item.location), f"{item.code} {escape(item.rule)}", _IN_PATCH[item.outcome])
        for item in outcomes[:_MAX_ROWS]
    )
    yield from table(("location", "finding", "in the patch"), rows)
    if len(outcomes) > _MAX_ROWS:
        yield f"\nAnd {len(outcomes) - _MAX_ROWS} more."


def _edits(proposal: Proposal, kind: DraftKind, context: DraftContext) -> Iterator[str]:
    yield from section("The patch" if kind == "issue" else "What changes")
    if proposal.edited:
        plus, minus = sum(item.plus for item in proposal.edited), sum(item.minus for item in proposal.edited)
        yield from (f"`edits.patch` (+{plus} -{minus} lines):", "")
        rows = (
            (code(item.path), ", ".join(map(code, item.recipes)) or "-", escape(_proof(item)))
            for item in proposal.edited
        )
        yield from table(("file", "edits", "without ROCm"), rows)
        yield from _recipe_lines(proposal, context)
        yield from _recheck_lines(proposal)
    if proposal.added:
        sentence = "`folder.patch` is optional. It adds" if proposal.edited else "`folder.patch` adds"
        folder = proposal.added[0].partition("/")[0]
        yield from ("",) if proposal.edited else ()
        files = counted(len(proposal.added), "file")
        yield f"{sentence} {files} in {code(f'{folder}/')}: install files and notes for ROCm."


def _recipe_lines(proposal: Proposal, context: DraftContext) -> Iterator[str]:
    """The purpose of each recipe."""
    names = sorted({name for item in proposal.edited for name in item.recipes} & set(context.knowledge.recipes))
    yield from ("",) if names else ()
    yield from (f"- {code(name)}: {escape(context.knowledge.recipes[name].title)}" for name in names)


def _proof(edited: EditedFile) -> str:
    if edited.proof is None:
        return "not proven: not checked"
    return edited.proof.detail if edited.is_proven else f"not proven: {edited.proof.detail}"


def _recheck_lines(proposal: Proposal) -> Iterator[str]:
    """How to check the isolation without rocm3d; only for edits by preprocessor directives."""
    proven = [(item.path, item.proof.kind) for item in proposal.edited if item.proof and item.is_proven]
    by_directives = [path for path, kind in proven if kind == "cpp-directives-evaluated"]
    if by_directives:
        command = "`unifdef -UUSE_ROCM -U__HIP_PLATFORM_AMD__ FILE`"
        yield f"\nTo check without rocm3d: {command} on {_join_code(by_directives)} prints"
        yield "the file before the patch, except that it may add a missing final newline."


def _limitations(proposal: Proposal, context: DraftContext) -> Iterator[str]:
    plan = context.report.plan
    if proposal.part != "repository":
        return
    blocked = [item for item in plan.decisions if item.decision == "blocked"]
    lost = {item.name: item for item in (*plan.losses, *plan.stubs) if item.decision != "blocked"}
    if not blocked and not lost:
        return
    yield from section("Limitations on ROCm")
    yield from (f"- {code(item.name)}: cannot be installed for this GPU; {escape(item.reason)}" for item in blocked)
    for item in lost.values():
        effect = f"without {escape(item.loses)}" if item.loses else escape(item.reason)
        stub = f"a {item.decision}, which never counts as tested; " if item.decision in ("stub", "substitute") else ""
        yield f"- {code(item.name)}: {stub}{effect}"


def _tested_lines(proposal: Proposal, report: PortReportView) -> Iterator[str]:
    """Failed checks first, then passed ones with what they covered."""
    unguarded = _unguarded_files(proposal)
    failed = [item for item in proposal.checks if item.outcome == "failed"]
    yield from (f"- [ ] **failed**: {_subject(item)}: {escape(item.detail)}" for item in verdict_groups(failed))
    passed = [item for item in proposal.checks if item.outcome == "passed"]
    for verdicts in group_by(passed, lambda item: (item.level, item.probe)).values():
        names = tuple(dict.fromkeys(item.subject or item.looked_at[0] for item in verdicts))
        covered = verdicts[0].looked_at if len(verdicts) == 1 and not verdicts[0].subject else names
        # A closed-list edit is not a proof: such files are listed as not compared.
        covered = tuple(text for text in covered if verdicts[0].probe != "prove_isolation" or text not in unguarded)
        if covered:
            subject = f"{_subject(verdicts[0])}{_scope_text(proposal, verdicts, report)}"
            yield f"- [x] {subject}: {_first_few(covered)}{_headers_text(verdicts)}"
    if proposal.part == "repository":
        for view in _current_runs(report, on_gpu=False):
            yield f"- run {code(view.run.name)} without a GPU: {escape(view.sentence)}"
    if not failed and not passed:
        yield "Nothing. No check covered this code."


def _not_tested_lines(proposal: Proposal, report: PortReportView) -> Iterator[str]:
    """Every level that neither passed nor failed, with its reason; then what only the owners of the code can test."""
    missing = [item for item in proposal.checks if item.outcome in ("not_run", "skipped")]
    if not proposal.edited:
        missing = [item for item in missing if item.probe not in _EDIT_PROBES]
    yield from (*_not_compared_lines(proposal), *_reason_lines(missing))
    if proposal.part == "dependency":
        yield "- [ ] everything: the checks of the port did not cover this code"
    if proposal.part == "repository":
        for item in report.scan.inventory.unscanned:
            yield f"- [ ] {code(item.name)}: not scanned; {escape(item.reason)}"
    yield "- [ ] your own tests on an NVIDIA GPU: not run with this change"


def _unguarded_files(proposal: Proposal) -> list[str]:
    """Files with a closed-list edit: only a comparison of nvcc's output can show that they are the same."""
    return [item.path for item in proposal.edited if item.proof and item.proof.kind == "closed-list"]


def _not_compared_lines(proposal: Proposal) -> Iterator[str]:
    passed = (item for item in proposal.checks if item.level == "nvidia" and item.outcome == "passed")
    units = [item.subject or item.looked_at[0] for item in passed]
    for path in _unguarded_files(proposal):
        if not any(unit.startswith((f"{path} ", f"{path},")) or unit == path for unit in units):
            yield f"- [ ] {code(path)}: nvcc's output before and after the edit was not compared"


def _reason_lines(missing: Iterable[Verdict]) -> Iterator[str]:
    """One line per reason, with the names of the files it applies to."""
    files_by_reason: dict[tuple[str, str], list[str]] = {}
    for item in missing:
        match = None if item.subject else _FILE_REASON.fullmatch(item.reason)
        outcome = item.outcome.replace("_", " ")
        files = files_by_reason.setdefault((_subject(item), f"{outcome}; {match['why'] if match else item.reason}"), [])
        name = match["file"] if match else item.subject
        files += [name] if name and name not in files else []
    for (subject, reason), files in files_by_reason.items():
        yield f"- [ ] {subject}: {escape(reason)}{f' ({_first_few(tuple(files))})' if files else ''}"


def _scope_text(proposal: Proposal, verdicts: list[Verdict], report: PortReportView) -> str:
    """The targets, and whether only part of the code was covered."""
    level = verdicts[0].level
    passed = {item.target for item in verdicts}
    listed = [gfx for gfx in report.verdicts.targets if gfx in passed] or report.verdicts.targets
    targets = ", ".join(listed) if level == "compile" else ""
    is_complete = all(other.outcome == "passed" for other in proposal.checks if other.level == level)
    limits = [f"for {targets}" if targets else "", "" if is_complete or level == "static" else "in part"]
    return f" ({'; '.join(text for text in limits if text)})" if any(limits) else ""


def _headers_text(verdicts: list[Verdict]) -> str:
    """The headers that the compiler used: some may be declarations by rocm3d."""
    lines = (text for item in verdicts for text in item.looked_at[1:] if text.startswith("headers: "))
    headers = dict.fromkeys(text.removeprefix("headers: ") for text in lines)
    return f"; headers: {escape(' / '.join(headers))}" if headers else ""


def _subject(verdict: Verdict | VerdictGroup) -> str:
    """What a check is about: by its probe, or else by its level."""
    return (
        _PROBE_TEXT.get(verdict.probe)
        or _LEVEL_TEXT.get(verdict.level)
        or escape(f"{verdict.level} {verdict.probe}".replace("_", " "))
    )


def _first_few(texts: tuple[str, ...]) -> str:
    return f"{escape(', '.join(texts[:_MAX_SHOWN]))}{_more(texts, _MAX_SHOWN)}"


def _more(texts: tuple[str, ...], shown: int) -> str:
    return f" and {len(texts) - shown} more" if len(texts) > shown else ""


def _not_changed(proposal: Proposal, context: DraftContext) -> Iterator[str]:
    outcomes = [item for item in _outcomes_in_proposal(proposal, context) if item.outcome in _UNRESOLVED]
    if not outcomes:
        return
    yield from section("Known locations that are not changed")
    for item in outcomes[:_MAX_ROWS]:
        yield f"- {code(item.location)} {item.code} {escape(item.rule)}: {escape(item.how)}"
    if len(outcomes) > _MAX_ROWS:
        yield f"- and {len(outcomes) - _MAX_ROWS} more"


def _licence_notes(proposal: Proposal, context: DraftContext) -> Iterator[str]:
    notices = list(_licences(proposal, context))
    if not notices:
        return
    yield from section("Licences")
    for name, licence in notices:
        note = f" {escape(licence.note)}" if licence.note else ""
        wording = f" Suggested wording: {escape(licence.wording)}." if licence.wording else ""
        yield f"- {code(name)} is under {escape(licence.name)}.{note}{wording}"
    yield "\nThis change redistributes and relicenses nothing: the patch contains only changed lines and their context."


def _licences(proposal: Proposal, context: DraftContext) -> Iterator[tuple[str, Licence]]:
    if proposal.part == "repository":
        yield from ((item.package, item.licence) for item in context.report.plan.licences)
        return
    for package in context.knowledge.packages.values():
        names = {package.id, *package.pip, *(name.rsplit("/", 1)[-1] for name in package.repositories)}
        if package.licence is not None and proposal.name.lower() in {name.lower() for name in names}:
            yield package.id, package.licence


def _to_do_lines(proposal: Proposal, kind: DraftKind, context: DraftContext, fix: str) -> Iterator[str]:
    noun = "pull request" if kind == "pr" else "issue"
    yield from (
        f"# Before you send this {noun}",
        "",
        "This page is for you; do not send it.",
        "",
        "- [ ] I have read every line of the patch and can answer for it.",
        "- [ ] I have searched for an issue or pull request that does the same.",
        "- [ ] I have read CONTRIBUTING: sign-off, contributor agreements, rules for tools.",
        "- [ ] I may offer these lines under the licence of that repository.",
    )
    if proposal.edited or proposal.added:
        names = [name for name, paths in (("edits", proposal.edited), ("folder", proposal.added)) if paths]
        files = " ".join(f"{name}.patch" for name in names)
        commit = f" of {proposal.commit}" if proposal.commit else ""
        yield f"- [ ] `git apply --check {files}` reports nothing in a checkout{commit}."
    if context.manual_changes and proposal.part == "repository":
        files = _first_files(context.manual_changes)
        yield f"- [ ] Changed after the port, not in a patch: {files}. Add them, say what was tested."
    failed = [item for item in proposal.checks if item.outcome == "failed"]
    if failed:
        yield f"- [ ] {counted(len(failed), 'check')} failed. Fix that before you send it."
    if not any(view.run.manifest.gpu for view in context.report.views):
        yield "- [ ] A bounded run on the GPU is recorded: `rocm3d run -- CMD ...`, then `rocm3d upstream PATH` again."
    compiled = {item.outcome for item in proposal.checks if item.level == "compile"}
    if compiled != {"passed"} and _is_native(proposal):
        yield "- [ ] It compiles for AMD targets: `rocm3d verify PATH --level compile`."
    if fix:
        yield f"\nAfter sending: `rocm3d ledger mark {fix} --link https://...`. After the decision: `--state merged` or"
        yield "`--state refused`."


def _is_native(proposal: Proposal) -> bool:
    return any(
        re.search(r"\.(cu|cuh|cpp|cc|cxx|c|h|hpp)$|setup\.py$|CMakeLists", item.path) for item in proposal.edited
    )


def _outcomes_in_proposal(proposal: Proposal, context: DraftContext) -> list[FindingOutcome]:
    """Outcomes of findings in the proposal's files, with paths relative to its root."""
    if proposal.part == "dependency":
        return []
    modules = [item.path for item in context.report.patch.modules]
    outcomes = finding_outcomes(context.report, context.knowledge)
    owners = (next((path for path in modules if item.path.startswith(f"{path}/")), "") for item in outcomes)
    return [
        replace(item, path=item.path.removeprefix(f"{owner}/"))
        for item, owner in zip(outcomes, owners, strict=True)
        if owner == proposal.inside
    ]


def _cuda_assumptions(proposal: Proposal, context: DraftContext) -> list[FindingOutcome]:
    return [item for item in _outcomes_in_proposal(proposal, context) if item.outcome != "no change needed"]


def _first_files(paths: tuple[str, ...]) -> str:
    return f"{_join_code(paths[:_MAX_FILES])}{_more(paths, _MAX_FILES)}"


def _join_code(paths: Iterable[str]) -> str:
    return ", ".join(map(code, paths))
