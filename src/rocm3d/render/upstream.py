"""Drafts of issues and pull requests for upstream projects: short, with what was tested and what was not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocm3d import __version__
from rocm3d.render.answers import Answer, answers
from rocm3d.render.checklist import not_tested, tested, without_guard
from rocm3d.render.cleaning import clean
from rocm3d.render.markdown import code, escape, section, table
from rocm3d.render.runs import place

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.ledger import Fix
    from rocm3d.model.package import Licence
    from rocm3d.model.upstream import DraftKind, EditedFile, Proposal
    from rocm3d.render.html import Report

_ROWS, _FILES, _TITLE = 15, 6, 72
_OPEN = ("left for a person", "refused")
_DONE = {"edited": "yes", "additive": "install files", "left for a person": "no", "refused": "no"}


@dataclass(frozen=True)
class Surroundings:
    """Input of a draft besides the proposal. `name` is the ported repository, `fixes` are the ledger entries of the
    port's other parts by name, and `manual_changes` are files that were changed after the port."""

    report: Report
    knowledge: Knowledge
    name: str = ""
    fixes: Mapping[str, Fix] = field(default_factory=dict)
    by_hand: tuple[str, ...] = ()


def title(proposal: Proposal, kind: DraftKind, around: Surroundings) -> str:
    """At most 72 characters."""
    number = len(proposal.edited)
    if kind == "issue":
        places = sum(len(item.places) for item in _answers(proposal, around) if item.outcome != "no change needed")
        said = f"{_count(places, 'place')} assume{'s' if places == 1 else ''} CUDA"
        text = f"Building with ROCm: {said}" if places else "Building with ROCm"
    elif number:
        text = f"Guarded edits for ROCm ({_count(number, 'file')})"
    else:
        text = "Install files for ROCm (no existing file is edited)"
    return clean(text)[:_TITLE]


def body(proposal: Proposal, kind: DraftKind, around: Surroundings) -> str:
    """Deterministic: the text contains neither dates nor the machine."""
    parts = (
        _opening(proposal, kind, around),
        _places(proposal, around) if kind == "issue" else (),
        _edits(proposal, kind, around),
        _without(proposal, around),
        section("Tested"),
        tested(proposal, around.report),
        section("Not tested"),
        not_tested(proposal, around.report),
        _not_changed(proposal, around),
        _terms(proposal, around),
    )
    lines = [line for part in parts for line in part]
    return "\n".join([*lines, "", f"Prepared with rocm3d {__version__}."]) + "\n"


def before_sending(proposal: Proposal, kind: DraftKind, around: Surroundings, fix: str) -> str:
    """A checklist for the sender; not part of the draft itself."""
    return "\n".join(_to_do(proposal, kind, around, fix)) + "\n"


def _opening(proposal: Proposal, kind: DraftKind, around: Surroundings) -> Iterator[str]:
    number = len(proposal.edited)
    if kind == "issue":
        yield "This code assumes CUDA in the lines listed below. A patch for ROCm torch (HIP, AMD GPUs) is attached."
        yield f"Would you accept it as a pull request? {_compiles(proposal)}".rstrip()
    elif number:
        use = "for ROCm torch (HIP, AMD GPUs)"
        yield f"Edits {_count(number, 'file')} {use}. {_compiles(proposal)}".rstrip()
    else:
        yield "Adds install files for ROCm (AMD GPUs). No existing file is edited, and nothing imports the new ones."
    yield from _isolation(proposal)
    plan = around.report.plan
    yield ""
    base = f", {escape(plan.base.title)}" if plan.base else ""
    yield f"Planned for {escape(plan.gpu.title)} ({code(plan.gpu.gfx)}){base}. {_ran(around)}"
    if proposal.part == "submodule":
        yield f"Found while porting {escape(around.name)}, which has this as a submodule."
    if proposal.part == "dependency":
        yield f"Found while porting {escape(around.name)}, which installs this from git."
    if proposal.commit:
        yield f"Made for commit {code(proposal.commit)}."
    if around.by_hand and proposal.part == "repository":
        yield f"The port has further changes that are not in this patch: {_first(around.by_hand)}."
    for name, fix in around.fixes.items():
        if proposal.part == "repository":
            state = f"{fix.state}: {', '.join(fix.links)}" if fix.links else "not sent yet"
            yield f"Also needs a change in {code(name)} ({state}); until then it is a patch in the folder below."


def _compiles(proposal: Proposal) -> str:
    """One sentence from the compile verdicts."""
    found = {item.outcome for item in proposal.checks if item.level == "compile"}
    if "failed" in found:
        return "**It does not compile for AMD targets yet: see below.**"
    if "passed" in found:
        part = "Part of it compiles for AMD targets; the rest was not tried"
        return f"{part if 'not_run' in found else 'It compiles for AMD targets'}: see below."
    return "It was not compiled." if _is_native(proposal) else ""


def _isolation(proposal: Proposal) -> Iterator[str]:
    bare, unproven = without_guard(proposal), [item.path for item in proposal.edited if not item.is_proven]
    if proposal.edited and not unproven:
        but = f" Except in {_listed(bare)}, every" if bare else " Every"
        yield f"{but[1:]} edit is guarded: a build or a run without ROCm sees the same code as before."
    if bare:
        yield f"{_listed(bare)}: contains an edit that cannot be guarded; see the table."
    if unproven:
        yield f"**Not proven to be the same without ROCm: {_listed(unproven)}.**"


def _ran(around: Surroundings) -> str:
    views = [view for view in around.report.views if not view.later and view.run.manifest.gpu]
    if not views:
        return "**Nothing was run on a GPU. Code that compiles may still be wrong.**"
    return " ".join(
        f"Run {code(view.run.name)} on {escape(place(view.run))}: {escape(view.sentence)}" for view in views
    )


def _places(proposal: Proposal, around: Surroundings) -> Iterator[str]:
    found = [item for item in _answers(proposal, around) if item.outcome != "no change needed"]
    yield from section("Where CUDA is assumed")
    rows = ((code(item.where), f"{item.code} {escape(item.rule)}", _DONE[item.outcome]) for item in found[:_ROWS])
    yield from table(("location", "finding", "in the patch"), rows)
    if len(found) > _ROWS:
        yield f"\nAnd {len(found) - _ROWS} more."


def _edits(proposal: Proposal, kind: DraftKind, around: Surroundings) -> Iterator[str]:
    yield from section("The patch" if kind == "issue" else "What changes")
    if proposal.edited:
        yield f"`edits.patch` ({_size(proposal.edited)}):"
        yield ""
        rows = (
            (code(item.path), ", ".join(map(code, item.recipes)) or "-", escape(_proof(item)))
            for item in proposal.edited
        )
        yield from table(("file", "edits", "without ROCm"), rows)
        yield from _reasons(proposal, around)
        yield from _recheck(proposal)
    if proposal.added:
        also = "`folder.patch` is optional. It adds" if proposal.edited else "`folder.patch` adds"
        folder = proposal.added[0].partition("/")[0]
        yield from ("",) if proposal.edited else ()
        yield f"{also} {_count(len(proposal.added), 'file')} in {code(f'{folder}/')}: install files and notes for ROCm."


def _reasons(proposal: Proposal, around: Surroundings) -> Iterator[str]:
    """The purpose of each recipe."""
    names = sorted({name for item in proposal.edited for name in item.recipes} & set(around.knowledge.recipes))
    yield from ("",) if names else ()
    yield from (f"- {code(name)}: {escape(around.knowledge.recipes[name].title)}" for name in names)


def _proof(item: EditedFile) -> str:
    if item.proof is None:
        return "not proven: not checked"
    return item.proof.detail if item.is_proven else f"not proven: {item.proof.detail}"


def _recheck(proposal: Proposal) -> Iterator[str]:
    """How to check the isolation without rocm3d; only for edits by preprocessor directives."""
    proven = [(item.path, item.proof.kind) for item in proposal.edited if item.proof and item.is_proven]
    plain = [path for path, kind in proven if kind == "cpp-directives-evaluated"]
    if plain:
        yield ""
        yield f"To check without rocm3d: `unifdef -UUSE_ROCM -U__HIP_PLATFORM_AMD__ FILE` on {_listed(plain)} prints"
        yield "the file before the patch, except that it may add a missing final newline."


def _without(proposal: Proposal, around: Surroundings) -> Iterator[str]:
    plan = around.report.plan
    if proposal.part != "repository":
        return
    blocked = [item for item in plan.decisions if item.decision == "blocked"]
    lost = {item.name: item for item in (*plan.losses, *plan.stubs) if item.decision != "blocked"}
    if not blocked and not lost:
        return
    yield from section("Limitations on ROCm")
    yield from (f"- {code(item.name)}: cannot be installed for this GPU; {escape(item.reason)}" for item in blocked)
    for item in lost.values():
        what = f"without {escape(item.loses)}" if item.loses else escape(item.reason)
        stub = f"a {item.decision}, which never counts as tested; " if item.decision in ("stub", "substitute") else ""
        yield f"- {code(item.name)}: {stub}{what}"


def _not_changed(proposal: Proposal, around: Surroundings) -> Iterator[str]:
    found = [item for item in _answers(proposal, around) if item.outcome in _OPEN]
    if not found:
        return
    yield from section("Known locations that are not changed")
    for item in found[:_ROWS]:
        yield f"- {code(item.where)} {item.code} {escape(item.rule)}: {escape(item.how)}"
    if len(found) > _ROWS:
        yield f"- and {len(found) - _ROWS} more"


def _terms(proposal: Proposal, around: Surroundings) -> Iterator[str]:
    notices = list(_licences(proposal, around))
    if not notices:
        return
    yield from section("Licences")
    for name, licence in notices:
        note = f" {escape(licence.note)}" if licence.note else ""
        spoken = f" Suggested wording: {escape(licence.wording)}." if licence.wording else ""
        yield f"- {code(name)} is under {escape(licence.name)}.{note}{spoken}"
    yield ""
    yield "This change redistributes and relicenses nothing: the patch contains only changed lines and their context."


def _licences(proposal: Proposal, around: Surroundings) -> Iterator[tuple[str, Licence]]:
    if proposal.part == "repository":
        yield from ((item.package, item.licence) for item in around.report.plan.licences)
        return
    for package in around.knowledge.packages.values():
        names = {package.id, *package.pip, *(name.rsplit("/", 1)[-1] for name in package.repositories)}
        if package.licence is not None and proposal.name.lower() in {name.lower() for name in names}:
            yield package.id, package.licence


def _to_do(proposal: Proposal, kind: DraftKind, around: Surroundings, fix: str) -> Iterator[str]:
    words = "pull request" if kind == "pr" else "issue"
    yield f"# Before you send this {words}"
    yield ""
    yield "This page is for you; do not send it."
    yield ""
    yield "- [ ] I have read every line of the patch and can answer for it."
    yield "- [ ] I have searched for an issue or pull request that does the same."
    yield "- [ ] I have read CONTRIBUTING: sign-off, contributor agreements, rules for tools."
    yield "- [ ] I may offer these lines under the licence of that repository."
    if proposal.edited or proposal.added:
        names = [name for name, there in (("edits", proposal.edited), ("folder", proposal.added)) if there]
        files = " ".join(f"{name}.patch" for name in names)
        commit = f" of {proposal.commit}" if proposal.commit else ""
        yield f"- [ ] `git apply --check {files}` reports nothing in a checkout{commit}."
    if around.by_hand and proposal.part == "repository":
        yield f"- [ ] Changed after the port, not in a patch: {_first(around.by_hand)}. Add them, say what was tested."
    failed = [item for item in proposal.checks if item.outcome == "failed"]
    if failed:
        yield f"- [ ] {_count(len(failed), 'check')} failed. Fix that before you send it."
    if not any(view.run.manifest.gpu for view in around.report.views):
        yield "- [ ] A bounded run on the GPU is recorded: `rocm3d run -- CMD ...`, then `rocm3d upstream PATH` again."
    compiled = {item.outcome for item in proposal.checks if item.level == "compile"}
    if compiled != {"passed"} and _is_native(proposal):
        yield "- [ ] It compiles for AMD targets: `rocm3d verify PATH --level compile`."
    if fix:
        yield ""
        yield f"After sending: `rocm3d ledger mark {fix} --link https://...`. After the decision: `--state merged` or"
        yield "`--state refused`."


def _is_native(proposal: Proposal) -> bool:
    return any(
        re.search(r"\.(cu|cuh|cpp|cc|cxx|c|h|hpp)$|setup\.py$|CMakeLists", item.path) for item in proposal.edited
    )


def _answers(proposal: Proposal, around: Surroundings) -> list[Answer]:
    """Outcomes of findings in the proposal's files, with paths relative to its root."""
    if proposal.part == "dependency":
        return []
    modules = [item.path for item in around.report.patch.modules]
    found = []
    for item in answers(around.report, around.knowledge):
        owner = next((path for path in modules if item.path.startswith(f"{path}/")), "")
        if owner == proposal.inside:
            path = item.path.removeprefix(f"{owner}/") if owner else item.path
            found.append(Answer(item.outcome, path, item.code, item.rule, item.how, item.places))
    return found


def _size(changes: Iterable[EditedFile]) -> str:
    found = list(changes)
    return f"+{sum(item.plus for item in found)} -{sum(item.minus for item in found)} lines"


def _first(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _FILES} more" if len(paths) > _FILES else ""
    return f"{_listed(paths[:_FILES])}{more}"


def _listed(paths: Iterable[str]) -> str:
    return ", ".join(map(code, paths))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
