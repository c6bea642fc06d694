"""Composes the stages: the only module that knows them all. CLI and MCP call these functions and nothing below."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timezone
from pathlib import Path

from rocm3d.apply.choice import Choice
from rocm3d.apply.modules import checked_out, holds_only_ours, patched_files
from rocm3d.apply.ported_modules import ported_modules
from rocm3d.apply.request import Request
from rocm3d.apply.rewrite import Refuse, rewrites
from rocm3d.apply.stage import MANIFEST, Outcome, apply, refuse_foreign_folder
from rocm3d.apply.undo import Undone, changed_since, undo
from rocm3d.evidence.bundle import bundle, moved
from rocm3d.host.installed_torch import as_stack, find_interpreter, read_torch
from rocm3d.host.kfd import gpus
from rocm3d.knowledge.base import Knowledge, suggestion
from rocm3d.knowledge.check import Problem, check
from rocm3d.knowledge.load import load
from rocm3d.model.evidence import Evidence
from rocm3d.model.failure import Failure, MachineLacks, UserError
from rocm3d.model.fit import Fit
from rocm3d.model.golden import Recording
from rocm3d.model.inventory import Scan
from rocm3d.model.look import Smoke
from rocm3d.model.patch import Patch
from rocm3d.model.plan import LeftForPerson, Plan
from rocm3d.model.stack import Stack
from rocm3d.model.target import Gpu
from rocm3d.model.toolchain import Toolchains
from rocm3d.model.verdict import Level, Verdicts
from rocm3d.model.wish import Platform
from rocm3d.plan.comparison import Question
from rocm3d.plan.fitness import fitness
from rocm3d.plan.stage import plan
from rocm3d.plan.wishes import Wishes
from rocm3d.record.golden import Wanted, record
from rocm3d.render.html import Report
from rocm3d.repository import Opened
from rocm3d.scan.detector import detectors
from rocm3d.scan.selection import Selection
from rocm3d.skill.stage import skill
from rocm3d.toolchain import prepared
from rocm3d.toolchain.finder import newest, toolchains
from rocm3d.toolchain.inspect import inspect
from rocm3d.verify.backends.environment import SECONDS, Environment
from rocm3d.verify.backends.suites import chosen, looked
from rocm3d.verify.compilation.building import Building
from rocm3d.verify.golden import Tolerances, compare_golden
from rocm3d.verify.probe import Case, Network, ResolverName
from rocm3d.verify.stage import LEVELS, verify
from rocm3d.workspace.copy import copy_tree
from rocm3d.workspace.documents import Documents
from rocm3d.workspace.git import uncommitted
from rocm3d.workspace.journal import Journal
from rocm3d.workspace.state import PORT as FOLDER
from rocm3d.workspace.tree import Tree
from rocm3d.workspace.writer import Writer

__all__ = [
    "COMMIT",
    "FOLDER",
    "LEVELS",
    "MANIFEST",
    "Building",
    "Choice",
    "Network",
    "Repository",
    "ResolverName",
    "Tolerances",
    "Wanted",
    "Wishes",
    "check_knowledge",
    "compare_golden",
    "find_toolchains",
    "fit_model",
    "inspect",
    "load",
    "prepare_toolchain",
    "record_golden",
    "resolve_gpu",
    "smoke",
    "write_skill",
]


COMMIT = "port.patch"


class Repository(Opened):
    """One target, its knowledge and its work folder: every stage is a method, every result a document."""

    def plan(self, gpu: Gpu, wishes: Wishes | None = None, inventory: Scan | None = None) -> Plan:
        """What to do about it. Without an inventory the tree is scanned as it was before any earlier apply."""
        before = inventory or self._scan_original()
        document = plan(before, gpu, self.knowledge, _today(), wishes)
        self.documents.write(before)
        self.documents.write(document)
        return document

    def installed(self, gpu: Gpu, interpreter: Path | None, platform: Platform) -> Stack:
        """The torch that is there, as a stack to plan for."""
        torch = read_torch(find_interpreter(self.root, interpreter))
        return as_stack(torch, gpu, platform, _today(), self.knowledge.stacks.values())

    def fit(self, gpu: Gpu, as_of: date | None = None, against: Sequence[str] = ()) -> Fit:
        """Whether it fits a GPU, and that GPU beside NVIDIA cards. Writes no document: it is no stage of a port."""
        rivals = [self.knowledge.rival(card) for card in against]
        planned = plan(self._scan_original(), gpu, self.knowledge, _today())
        port = self.knowledge.ports.get(planned.known_as or "")
        return fitness(Question(gpu, self.knowledge, _today(), rivals, plan=planned), port, as_of or _today())

    def apply(  # noqa: PLR0913  (what a person may ask for)
        self,
        plan: Plan,
        *,
        review: bool,
        dry_run: bool,
        allow_dirty: bool = False,
        choice: Choice | None = None,
        patch_file: Path | None = None,
    ) -> Patch:
        """Do it, in place. Nothing is written before everything is computed and proven.

        What was done lies in the work folder as one file for `git am`, too; `patch_file` is another place for it.
        """
        journal = Journal.open(self.root)
        if not dry_run:
            self._refuse_unsafe(journal, allow_dirty=allow_dirty)
        tree = self._whole_tree()
        refuse_foreign_folder(tree, self.folder)
        originals = {path: journal.original(path) for path in journal.entries}
        modules = checked_out(tree)
        request = Request(self.folder, review, dry_run, originals, choice or Choice(), modules)
        outcome = apply(plan, self._tree(), request, self.documents.find(Patch))
        patch = outcome.patch.model_copy(update={"left": (*outcome.patch.left, *self._unreached(plan, outcome))})
        if patch_file is not None:
            self.documents.write_bytes(patch_file, outcome.commit)
        if not dry_run:
            self._write(outcome.contents, journal)
            self.documents.write(patch)
            self.documents.write_bytes(self.documents.folder / COMMIT, outcome.commit)
        return patch

    def undo(self, *, keep_changed: bool) -> Undone:
        """The tree as it was before the first apply."""
        journal = Journal.open(self.root)
        if not journal.entries:
            raise UserError(f"nothing to undo in {self.root}", hint="`rocm3d apply` has not changed this tree")
        return undo(journal, Writer(self.root, journal), keep_changed=keep_changed)

    def environment(self, interpreter: Path | None) -> Environment:
        """The target's environment to be asked, or why it cannot be."""
        try:
            return Environment.of(find_interpreter(self.root, interpreter), self.root)
        except MachineLacks as error:
            return Environment(lacks=f"{error.message}: {error.hint}")

    def verify(
        self,
        levels: tuple[Level, ...],
        targets: tuple[str, ...],
        network: Network | None = None,
        environment: Environment | None = None,
        building: Building | None = None,
    ) -> Verdicts:
        """Check the port as it lies. Servers are asked, and the target's code run, only through what is handed in."""
        journal = Journal.open(self.root)
        patch, plan = self.documents.read(Patch), self.documents.read(Plan)
        modules = ported_modules(patch, self._whole_tree())
        originals = {**{path: journal.original(path) for path in journal.entries}, **modules.before}
        patch = patch.model_copy(update={"changes": (*patch.changes, *modules.changes)})
        now = self._scan(Tree.open(self.root, without=self._ours(), overlay=modules.after), Selection())
        tree = Tree.open(self.root, overlay=modules.after)
        aims = targets or self._default_targets(plan.gpu)
        asked, there = network or Network(), environment or Environment()
        made = building or Building()
        case = Case(plan, patch, tree, originals, now, aims, self.knowledge, asked, there, made)
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
            # The manifest first: what a crash leaves in the folder is then known to be ours.
            for path, content in sorted(contents.items(), key=lambda item: (not item[0].endswith(MANIFEST), item)):
                self.progress(path)
                writer.write(path, content)
        except Failure:
            if first:
                undo(journal, writer, keep_changed=True)
            raise

    def _unreached(self, plan: Plan, outcome: Outcome) -> list[LeftForPerson]:
        """Findings that an edit was planned for and that the edited text still has: a person's, and said so."""
        everything = {**outcome.contents, **outcome.inside}
        edited = {path: data for path, data in everything.items() if not path.startswith(f"{self.folder}/")}
        refused = {(item.path, item.recipe) for item in outcome.patch.refused}
        meant = {(edit.path, found.code): edit for edit in plan.edits for found in edit.findings}
        tree = Tree.open(self.root, without=self._ours(), overlay=edited)
        return [
            LeftForPerson(finding=found, reason=f"{edit.recipe} does not reach this form of it")
            for found in self._scan(tree, Selection()).findings
            if (edit := meant.get((found.path, found.code))) and (edit.path, edit.recipe) not in refused
        ]

    def _whole_tree(self) -> Tree:
        return Tree.open(self.root)

    def _scan_original(self) -> Scan:
        """Scan as if nothing had been applied, so that planning twice gives the same plan."""
        journal = Journal.open(self.root)
        intact = set(journal.entries) - set(changed_since(journal))
        overlay = {path: journal.original(path) for path in intact}
        overlay |= dict(patched_files(self._whole_tree(), self.documents.find(Patch)))
        tree = Tree.open(self.root, without=self._ours(), overlay=overlay)
        return self._scan(tree, self.selection)

    def _refuse_unsafe(self, journal: Journal, *, allow_dirty: bool) -> None:
        dirty = uncommitted(self.root)
        ours = set(journal.entries)
        others = [path for path in dirty or () if not _is_ours(path, ours, self.folder)]
        earlier = self.documents.find(Patch)
        others = [path for path in others if not holds_only_ours(self.root, path, earlier)]
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


def fit_model(name: str, gpu: Gpu, knowledge: Knowledge, as_of: date | None = None, against: Sequence[str] = ()) -> Fit:
    """Whether a known repository fits a GPU and is viable, with what was known at a date (None: today)."""
    port = knowledge.ports.get(name.lower())
    if port is None:
        message = f"{name!r} is neither a folder here nor a repository that is known"
        raise UserError(message, hint=suggestion(name, knowledge.ports))
    rivals = [knowledge.rival(card) for card in against]
    return fitness(Question(gpu, knowledge, _today(), rivals), port, as_of or _today())


def smoke(
    names: Sequence[str],
    interpreter: Path | None,
    knowledge: Knowledge,
    progress: Callable[[str], None],
    seconds: float = SECONDS,
) -> Smoke:
    """Try out the GPU of this machine with the packages of an environment."""
    given = chosen(names, knowledge)
    found = find_interpreter(Path.cwd(), interpreter)
    environment = Environment(found, "", seconds=seconds)
    return Smoke(
        machine=_machine(),
        interpreter=str(found),
        knowledge_date=str(knowledge.date),
        suites=tuple(looked(given, environment, knowledge, progress)),
    )


def record_golden(wanted: Wanted, into: Path) -> Recording:
    """Run a program and keep the numbers it gives."""
    return record(wanted, into, _machine())


def find_toolchains(knowledge: Knowledge) -> Toolchains:
    """Which compilers for AMD targets are on this machine."""
    return toolchains(knowledge.toolchains)


def prepare_toolchain(knowledge: Knowledge, progress: Callable[[str], None]) -> None:
    """Put together the toolchain made of wheels; the size is said before anything is fetched."""
    recipe = newest(knowledge.toolchains)
    if prepared.find(recipe).targets:
        progress(f"{recipe.id} is ready")
        return
    progress(f"{recipe.title}: up to {prepared.download_megabytes(recipe)} MB are fetched")
    prepared.prepare(recipe, progress)


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
