"""Drafts of pull requests and issues for the upstream repositories, and the ledger entries of their fixes."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.apply.git_patch import split_by_file
from rocm3d.apply.installable_folders import InstallableFolders
from rocm3d.apply.repository_requirements import repository_requirements
from rocm3d.evidence.ledger import LedgerFile, slug
from rocm3d.evidence.proposals import PatchedClone, changed_lines_digest, edited_file, proposals
from rocm3d.manifest.git_checkout import GitCheckout
from rocm3d.model.errors import UserError
from rocm3d.model.evidence import SealedFile
from rocm3d.model.upstream import Draft, Drafts
from rocm3d.render import upstream as text
from rocm3d.repository import COMMIT, Repository
from rocm3d.workspace.copy_record import read_copy_record
from rocm3d.workspace.documents import Documents
from rocm3d.workspace.git import committed_file, head_commit, origin_url, uncommitted_paths
from rocm3d.workspace.journal import digest
from rocm3d.workspace.tree import Tree, file_digest

if TYPE_CHECKING:
    from rocm3d.model.patch import SubmodulePatch
    from rocm3d.model.upstream import DraftKind, Fix, Proposal
    from rocm3d.render.html import PortReportView
    from rocm3d.repository import Repository

MANIFEST = "drafts.json"
_SOURCE = re.compile(r"\.(py|pyi|cu|cuh|c|cc|cpp|cxx|h|hpp|cmake|toml|cfg|txt|in|sh|ya?ml)$")
_PATCH = re.compile(r"(?P<name>[^/@]+)@(?P<commit>[0-9a-f]{7,64})\.patch")


@dataclass(frozen=True)
class UpstreamDrafts:
    """The drafts, their folder, and the ledger's fixes by id.

    `manually_changed` are files changed after the port; these changes are in no patch.
    """

    document: Drafts
    folder: Path
    fixes: Mapping[str, Fix]
    manually_changed: tuple[str, ...] = ()


def draft_upstream(
    repository: Repository, kind: DraftKind, output: Path | None, book: LedgerFile | None
) -> UpstreamDrafts:
    """Write a draft for each repository that the port changes; without `book` the ledger is not updated."""
    report = repository.report()
    if report.moved:
        raise UserError(
            f"changed since it was sealed: {', '.join(report.moved)}", hint="run `rocm3d verify PATH` first, then retry"
        )
    tree = Tree.open(repository.root)
    parts, manually_changed = (
        _parts(report, tree, repository.documents.read_bytes(COMMIT)),
        _manually_changed(report, tree),
    )
    if not parts:
        raise UserError(f"the port of {report.plan.repository} changes nothing", hint="there is nothing to send")
    output_folder = output or repository.documents.folder / "upstream"
    _refuse_foreign_folder(output_folder)
    name = next((item.proposal.name for item in parts if item.proposal.part == "repository"), report.plan.repository)
    fixes = [_ledger_entry(part, name, book) for part in parts] if book else [None for _ in parts]
    files, drafts = dict[str, bytes](), list[Draft]()
    for part, fix, folder in zip(parts, fixes, _folders(parts), strict=True):
        others = {
            item.proposal.name: note for item, note in zip(parts, fixes, strict=True) if note and item is not part
        }
        context = text.DraftContext(report, repository.knowledge, name, others, manually_changed)
        draft = _draft(part.proposal, kind, folder, context, fix)
        drafts.append(draft)
        files |= {f"{folder}/{name}": data for name, data in _files(part, draft, context).items()}
    document = Drafts(
        repository=name,
        drafts=tuple(drafts),
        files=tuple(SealedFile(path=name, sha256=digest(data)) for name, data in sorted(files.items())),
    )
    _write(output_folder, files, document)
    return UpstreamDrafts(document, output_folder, {item.id: item for item in fixes if item}, manually_changed)


@dataclass(frozen=True)
class ProposalDiffs:
    """A proposal and its diffs by path."""

    proposal: Proposal
    diffs: Mapping[str, bytes]


def _parts(report: PortReportView, tree: Tree, commit: bytes | None) -> list[ProposalDiffs]:
    """The repository, its submodules, and its git dependencies. Raises if diffs differ from the documents."""
    patch, clones = report.patch, list(_clones(report, tree))
    diffs = [_repository_diffs(report, commit)] if patch.changes else []
    diffs += [_submodule_diffs(module, tree) for module in patch.modules]
    copied = read_copy_record(tree.root)
    origin = origin_url(tree.root) or (copied.origin if copied else "")
    origins = {item.path: item.url for item in InstallableFolders(tree).submodules} | {"": origin}
    base = _base_commit(report, tree.root)
    proposal_list = proposals(patch, report.verdicts, base, origins, [clone for clone, _ in clones])
    return [ProposalDiffs(*pair) for pair in zip(proposal_list, [*diffs, *(data for _, data in clones)], strict=True)]


def _submodule_diffs(module: SubmodulePatch, tree: Tree) -> Mapping[str, bytes]:
    data = tree.read(module.file) if module.file in tree else None
    diffs = split_by_file(data or b"")
    if not _have_same_text(diffs, [_relative_to_submodule(change.diff, module.path) for change in module.changes]):
        raise UserError(f"{module.file} differs from patch.json", hint="run `rocm3d apply` again")
    return diffs


def _repository_diffs(report: PortReportView, commit: bytes | None) -> Mapping[str, bytes]:
    if commit is None:
        raise UserError(f"the work folder has no {COMMIT}", hint="run `rocm3d apply` again")
    diffs = split_by_file(commit)
    if not _have_same_text(diffs, [change.diff for change in report.patch.changes]):
        raise UserError(f"{COMMIT} differs from patch.json", hint="run `rocm3d apply` again")
    return diffs


def _have_same_text(diffs: Mapping[str, bytes], expected: Iterable[str]) -> bool:
    """Documents store text with invalid bytes replaced, so the comparison replaces them, too."""
    texts = (data.decode("utf-8", "replace") for data in diffs.values())
    return sorted(map(str.strip, texts)) == sorted(map(str.strip, expected))


def _relative_to_submodule(diff: str, path: str) -> str:
    """A diff of the outer repository with its paths made relative to the submodule."""
    head, start, hunks = diff.partition("\n@@ ")
    return head.replace(f"/{path}/", "/") + start + hunks


def _clones(report: PortReportView, tree: Tree) -> Iterator[tuple[PatchedClone, Mapping[str, bytes]]]:
    """Git dependencies with a patch in the port folder, made with the commands that apply suggests."""
    folder = f"{report.patch.folder}/patches/"
    known = {item.file for item in report.patch.modules}
    urls = {
        item.location.name: item.location.url
        for item in repository_requirements(report.plan, tree).sources.values()
        if isinstance(item.location, GitCheckout)
    }
    for path in sorted(tree.paths()):
        match = _PATCH.fullmatch(path.removeprefix(folder)) if path.startswith(folder) and path not in known else None
        diffs = split_by_file(tree.read(path) or b"") if match else {}
        if match is None or not diffs:
            continue
        new = tuple(name for name, data in diffs.items() if b"\n--- /dev/null" in data)
        shown = ((name, data.decode("utf-8", "replace")) for name, data in diffs.items() if name not in new)
        changed = tuple(edited_file(name, data) for name, data in shown)
        yield PatchedClone(match["name"], match["commit"], urls.get(match["name"], ""), changed, new), diffs


def _manually_changed(report: PortReportView, tree: Tree) -> tuple[str, ...]:
    """Files that changed after the port, and other source files with uncommitted changes."""
    patch = report.patch
    ours = {item.path for item in patch.changes}
    changed = {
        item.path
        for item in patch.changes
        if item.path not in tree or digest(tree.read(item.path) or b"") != item.after
    }
    with contextlib.suppress(UserError):
        for path in uncommitted_paths(tree.root) or ():
            is_port_change = (
                path in ours or path.startswith(f"{patch.folder}/") or any(path == item.path for item in patch.modules)
            )
            if not is_port_change and _SOURCE.search(path):
                changed.add(path)
    return tuple(sorted(changed))


def _base_commit(report: PortReportView, root: Path) -> str:
    """The commit that the patch applies to; empty if git does not know it or the port is already committed."""
    commit = head_commit(root)
    if commit is None:
        record = read_copy_record(root)
        is_committed = record and not {change.path for change in report.patch.changes} & {*record.changed}
        return record.commit if record and is_committed else ""
    for change in report.patch.changes:
        committed_data = committed_file(root, change.path)
        if (None if committed_data is None else digest(committed_data)) != change.before:
            return ""
    return commit


def _ledger_entry(part: ProposalDiffs, repository: str, book: LedgerFile) -> Fix:
    own_paths = {change.path for change in part.proposal.edited} or set(part.diffs)
    lines = changed_lines_digest((path, data) for path, data in part.diffs.items() if path in own_paths)
    return book.enter(part.proposal, lines, repository)


def _draft(proposal: Proposal, kind: DraftKind, folder: str, context: text.DraftContext, fix: Fix | None) -> Draft:
    outcomes = [item.outcome for item in proposal.checks]
    return Draft(
        name=proposal.name,
        part=proposal.part,
        kind=kind,
        title=text.title(proposal, kind, context),
        folder=folder,
        origin=proposal.origin,
        commit=proposal.commit,
        passed=outcomes.count("passed"),
        failed=outcomes.count("failed")
        + sum(item.proof is not None and not item.is_proven for item in proposal.edited),
        not_tested=outcomes.count("not_run") + outcomes.count("skipped"),
        fix=fix.id if fix else "",
    )


def _files(part: ProposalDiffs, draft: Draft, context: text.DraftContext) -> dict[str, bytes]:
    """Plain diffs without an author: the sender commits them under their own name."""
    proposal, diffs, new = part.proposal, part.diffs, set(part.proposal.added)
    files = {
        "title.txt": f"{draft.title}\n".encode(),
        "body.md": text.body(proposal, draft.kind, context).encode(),
        "before-sending.md": text.before_sending(proposal, draft.kind, context, draft.fix).encode(),
    }
    edits = b"".join(data for path, data in sorted(diffs.items()) if path not in new)
    folder = b"".join(data for path, data in sorted(diffs.items()) if path in new)
    return files | {name: data for name, data in (("edits.patch", edits), ("folder.patch", folder)) if data}


def _folders(parts: Iterable[ProposalDiffs]) -> list[str]:
    """One folder name per part; equal names get a number."""
    folders: list[str] = []
    for part in parts:
        name, number = slug(part.proposal.name), 1
        while (folder := name if number == 1 else f"{name}-{number}") in folders:
            number += 1
        folders.append(folder)
    return folders


def _refuse_foreign_folder(folder: Path) -> None:
    """Raises UserError for a folder that is not from rocm3d, or with a draft that was edited."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UserError(f"{folder} exists and is not a folder of drafts", hint="choose a new folder with --output")
    if not folder.exists() or not any(folder.iterdir()):
        return
    if not (folder / MANIFEST).is_file():
        raise UserError(f"{folder} exists and was not made by rocm3d", hint="choose a new folder with --output")
    for sealed_file in _earlier_drafts(folder).files:
        file = _draft_path(folder, sealed_file.path)
        if file.is_file() and not file.is_symlink() and file_digest(file) != sealed_file.sha256:
            raise UserError(f"{file} was edited since it was written", hint="choose a new folder with --output")


def _earlier_drafts(folder: Path) -> Drafts:
    name = folder / MANIFEST
    text = (Documents(folder, trusted=True).read_bytes(MANIFEST) or b"").decode("utf-8", "replace")
    return Drafts.from_json(text, str(name))


def _write(folder: Path, files: Mapping[str, bytes], document: Drafts) -> None:
    try:
        old = (
            {sealed_file.path for sealed_file in _earlier_drafts(folder).files}
            if (folder / MANIFEST).is_file()
            else set()
        )
        folder.mkdir(parents=True, exist_ok=True)
        for name in old - set(files):
            _draft_path(folder, name).unlink(missing_ok=True)
        for name, data in files.items():
            target = _draft_path(folder, name)
            target.parent.mkdir(exist_ok=True)
            Documents(folder).write_bytes(target, data)
        Documents(folder).write_text(folder / MANIFEST, document.to_json())
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}", hint="choose another --output") from error


def _draft_path(root: Path, name: str) -> Path:
    """The path of a draft's file. Rejects names that lead out of the folder, as in a tampered manifest."""
    folder, _, file = name.partition("/")
    if folder != slug(folder) or re.fullmatch(r"[a-z-]+\.(txt|md|patch)", file) is None or (root / folder).is_symlink():
        raise UserError(f"{root / MANIFEST} lists {name!r}, which is not a draft's file", hint="choose a new folder")
    return root / folder / file
