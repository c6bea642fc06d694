"""Composes the stages: the only module that knows them all. CLI and MCP call these functions and nothing below."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from pathlib import Path

from rocm3d.apply.rewrite import Refuse, rewrites
from rocm3d.apply.stage import MANIFEST, Outcome, Request, apply, is_port_folder, refuse_foreign_folder
from rocm3d.apply.undo import Undone, changed_since, undo
from rocm3d.evidence.bundle import bundle, moved
from rocm3d.host.kfd import gpus
from rocm3d.knowledge.base import Knowledge, suggestion
from rocm3d.knowledge.check import Problem, check
from rocm3d.knowledge.load import load
from rocm3d.model.evidence import Evidence
from rocm3d.model.failure import Failure, UserError
from rocm3d.model.fingerprint import unknown
from rocm3d.model.fit import Fit
from rocm3d.model.inventory import Scan
from rocm3d.model.patch import Patch
from rocm3d.model.plan import LeftForPerson, Plan
from rocm3d.model.target import Gpu
from rocm3d.model.verdict import Level, Verdicts
from rocm3d.plan.stage import plan
from rocm3d.plan.viability import fit
from rocm3d.render.html import Report
from rocm3d.scan.detector import detectors
from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.skill.stage import skill
from rocm3d.verify.probe import Case
from rocm3d.verify.stage import LEVELS, verify
from rocm3d.workspace.copy import copy_tree
from rocm3d.workspace.documents import Documents
from rocm3d.workspace.git import uncommitted
from rocm3d.workspace.journal import Journal
from rocm3d.workspace.result_cache import ResultCache
from rocm3d.workspace.state import work_folder
from rocm3d.workspace.tree import Tree
from rocm3d.workspace.writer import Writer

FOLDER = "rocm-port"

Progress = Callable[[str], None]
__all__ = [
    "FOLDER",
    "LEVELS",
    "MANIFEST",
    "Repository",
    "check_knowledge",
    "fit_model",
    "load",
    "resolve_gpu",
    "write_skill",
]


def _silent(message: str) -> None:
    """No progress is shown."""


@dataclass
class Repository:
    """One target, its knowledge and its work folder: every stage is a method, every result a document."""

    root: Path
    knowledge: Knowledge
    work: Path | None = None
    folder: str = FOLDER
    selection: Selection = field(default_factory=Selection)
    progress: Progress = _silent
    cached: bool = False

    def __post_init__(self) -> None:
        Tree.open(self.root)
        self.root = self.root.resolve()
        self.documents = Documents(work_folder(self.root, self.work))

    def scan(self, baseline: Scan | None = None) -> Scan:
        """What is CUDA-first here, in the tree as it lies. All of it is kept; what a baseline holds is not returned."""
        document = self._scan(self._tree(), self.selection)
        self.documents.write(document)
        if baseline is None:
            return document
        new = unknown(document.findings, baseline.findings)
        return document.model_copy(update={"findings": new, "known": len(document.findings) - len(new)})

    def plan(self, gpu: Gpu, stack: str | None = None, inventory: Scan | None = None) -> Plan:
        """What to do about it. Without an inventory the tree is scanned as it was before any earlier apply."""
        before = inventory or self._scan_original()
        document = plan(before, gpu, self.knowledge, _today(), stack)
        self.documents.write(before)
        self.documents.write(document)
        return document

    def apply(self, plan: Plan, *, review: bool, dry_run: bool, allow_dirty: bool = False) -> Patch:
        """Do it, in place. Nothing is written before everything is computed and proven."""
        journal = Journal.open(self.root)
        if not dry_run:
            self._refuse_unsafe(journal, allow_dirty=allow_dirty)
        tree = self._whole_tree()
        refuse_foreign_folder(tree, self.folder)
        originals = {path: journal.original(path) for path in journal.entries}
        request = Request(self.folder, review=review, dry_run=dry_run, originals=originals)
        outcome = apply(plan, self._tree(), request, self.documents.find(Patch))
        patch = outcome.patch.model_copy(update={"left": (*outcome.patch.left, *self._unreached(plan, outcome))})
        if not dry_run:
            self._write(outcome.contents, journal)
            self.documents.write(patch)
        return patch

    def undo(self, *, keep_changed: bool) -> Undone:
        """The tree as it was before the first apply."""
        journal = Journal.open(self.root)
        if not journal.entries:
            raise UserError(f"nothing to undo in {self.root}", hint="`rocm3d apply` has not changed this tree")
        return undo(journal, Writer(self.root, journal), keep_changed=keep_changed)

    def verify(self, levels: tuple[Level, ...], targets: tuple[str, ...]) -> Verdicts:
        """Check the port as it lies."""
        journal = Journal.open(self.root)
        patch = self.documents.read(Patch)
        originals = {path: journal.original(path) for path in journal.entries}
        now = self._scan(self._tree(), Selection())
        plan = self.documents.read(Plan)
        case = Case(plan, patch, self._whole_tree(), originals, now, targets or self._default_targets(plan.gpu))
        document = verify(case, levels)
        self.documents.write(document)
        return document

    def evidence(self) -> Evidence:
        """Seal what the stages have written."""
        read = self.documents.read
        plan, patch, verdicts = read(Plan), read(Patch), read(Verdicts)
        paths = [self.documents.path(kind) for kind in (Scan, Plan, Patch, Verdicts)]
        sealed = {path.name: path.read_bytes() for path in paths}
        document = bundle(plan, patch, verdicts, sealed, datetime.now(timezone.utc), _machine())
        self.documents.write(document)
        return document

    def report(self) -> Report:
        """Everything the page shows, and whether it is still what was sealed."""
        read = self.documents.read
        scanned, planned, patch, verdicts = read(Scan), read(Plan), read(Patch), read(Verdicts)
        evidence = self.documents.find(Evidence) or self.evidence()
        now = {item.path: _bytes(self.documents.folder / item.path) for item in evidence.documents}
        return Report(scanned, planned, patch, verdicts, evidence, tuple(moved(evidence, now)))

    def into(self, target: Path) -> Repository:
        """The same repository as a copy elsewhere; this one stays as it is."""
        copy_tree(self.root, target)
        return Repository(target, self.knowledge, self.work, self.folder, self.selection, self.progress, self.cached)

    def _write(self, contents: Mapping[str, bytes], journal: Journal) -> None:
        """All or nothing: a first apply that cannot finish is taken back."""
        writer, first = Writer(self.root, journal), not journal.entries
        try:
            for path, content in sorted(contents.items()):
                self.progress(path)
                writer.write(path, content)
        except Failure:
            if first:
                undo(journal, writer, keep_changed=True)
            raise

    def _unreached(self, plan: Plan, outcome: Outcome) -> list[LeftForPerson]:
        """Findings that an edit was planned for and that the edited text still has: a person's, and said so."""
        edited = {path: data for path, data in outcome.contents.items() if not path.startswith(f"{self.folder}/")}
        refused = {(item.path, item.recipe) for item in outcome.patch.refused}
        meant = {(edit.path, found.code): edit for edit in plan.edits for found in edit.findings}
        tree = Tree.open(self.root, without=self._ours(), overlay=edited)
        return [
            LeftForPerson(finding=found, reason=f"{edit.recipe} does not reach this form of it")
            for found in self._scan(tree, Selection()).findings
            if (edit := meant.get((found.path, found.code))) and (edit.path, edit.recipe) not in refused
        ]

    def _tree(self) -> Tree:
        """The target's own files: our folder is no part of what is scanned."""
        return Tree.open(self.root, without=self._ours())

    def _whole_tree(self) -> Tree:
        return Tree.open(self.root)

    def _ours(self) -> frozenset[str]:
        return frozenset({self.folder} if is_port_folder(self._whole_tree(), self.folder) else ())

    def _scan_original(self) -> Scan:
        """Scan as if nothing had been applied, so that planning twice gives the same plan."""
        journal = Journal.open(self.root)
        intact = set(journal.entries) - set(changed_since(journal))
        overlay = {path: journal.original(path) for path in intact}
        tree = Tree.open(self.root, without=self._ours(), overlay=overlay)
        return self._scan(tree, self.selection)

    def _scan(self, tree: Tree, selection: Selection) -> Scan:
        cache = ResultCache.open("scan") if self.cached else None
        return scan(tree, self.knowledge, selection, self.progress, cache)

    def _refuse_unsafe(self, journal: Journal, *, allow_dirty: bool) -> None:
        dirty = uncommitted(self.root)
        ours = set(journal.entries)
        others = [path for path in dirty or () if not _is_ours(path, ours, self.folder)]
        if others and not allow_dirty:
            raise UserError(
                f"{self.root.name} has uncommitted changes: {', '.join(others[:3])}{' ...' if len(others) > 3 else ''}",
                hint="commit them, or use --into DIR for a ported copy, or --allow-dirty",
            )
        changed = changed_since(journal)
        if changed and dirty == []:
            journal.forget()  # the changes are committed: git is the way back from here
        elif changed:
            raise UserError(
                f"changed since the last apply: {', '.join(changed[:3])}",
                hint="`rocm3d undo --keep-changed` first, or commit your work",
            )

    def _default_targets(self, gpu: Gpu) -> tuple[str, ...]:
        """The plan's own target and one of the other wave width."""
        others = [t.gfx for t in self.knowledge.targets.values() if t.wave_size != gpu.wave_size]
        preferred = [gfx for stack in self.knowledge.stacks.values() for gfx in stack.gfx if gfx in others]
        return (gpu.gfx, *preferred[:1])


def resolve_gpu(name: str | None, knowledge: Knowledge) -> Gpu:
    """The GPU a plan is for: the one named, else the AMD GPU of this machine."""
    if name is not None:
        return knowledge.gpu(name)
    here = sorted(set(gpus()))
    if len(here) == 1:
        return knowledge.gpu(here[0])
    if here:
        raise UserError(f"this machine has several kinds of AMD GPU: {', '.join(here)}", hint="name one with --gpu")
    raise UserError("no AMD GPU on this machine", hint="name the one to plan for, for example --gpu mi300x")


def fit_model(name: str, gpu: Gpu, knowledge: Knowledge, as_of: date | None) -> Fit:
    """Whether a known repository fits a GPU and is viable, with what was known at a date (None: today)."""
    port = knowledge.ports.get(name.lower())
    if port is None:
        raise UserError(f"no repository is known as {name!r}", hint=suggestion(name, knowledge.ports))
    return fit(port, knowledge.ports, gpu, as_of or _today())


def write_skill(folder: Path, knowledge: Knowledge, commands: Mapping[str, str]) -> list[str]:
    """Write the agent skill into a new folder, or over an earlier one of ours; the paths that are not of this skill.

    Those stay: they may be an older skill's, or somebody's own.
    """
    files = skill(knowledge, commands)
    there = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    if there and not _is_skill(folder, knowledge):
        raise UserError(f"{folder} is there already and not a skill of rocm3d", hint="name a new folder")
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        Documents(place.parent).write_text(place, text)
    return sorted(set(there) - set(files))


def _is_skill(folder: Path, knowledge: Knowledge) -> bool:
    name = knowledge.method.name if knowledge.method else ""
    text = _bytes(folder / "SKILL.md") or b""
    return text.startswith(f"---\nname: {name}\n".encode())


def check_knowledge(knowledge: Knowledge) -> list[Problem]:
    """Every problem of the data, the examples of active recipes included."""
    rules = {detector.rule for detector in detectors()}
    return [*check(knowledge, rules, set(rewrites())), *_broken_examples(knowledge)]


def _broken_examples(knowledge: Knowledge) -> list[Problem]:
    found = []
    for recipe in knowledge.recipes.values():
        example, rewrite = knowledge.examples.get(recipe.id), rewrites().get(recipe.rewrite)
        if recipe.status != "active" or example is None or rewrite is None:
            continue
        for name, given, wanted in (
            ("before", example.before, example.after),
            ("after", example.after, example.after),
            ("untouched", example.untouched, example.untouched),
        ):
            try:
                got = rewrite.edit(given, recipe.parameters)
            except Refuse:
                got = given
            if got != wanted:
                message = f"{recipe.rewrite} does not make of it what the example says"
                found.append(Problem(knowledge.places["recipes", recipe.id], name, message))
    return found


def _is_ours(path: str, ours: set[str], folder: str) -> bool:
    return path in ours or path.rstrip("/") == folder or path.startswith(f"{folder}/")


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"


def _today() -> date:
    return datetime.now(timezone.utc).date()
