"""An opened repository and the stages of a port, top to bottom: scan, plan, apply, verify, evidence, report.

Each stage is a method that takes the document of the stage before it, or reads it from the work folder, and writes its
own. A method imports its stage when it is called: a scan must not load the rest (docs/decisions/0008).
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.model.errors import MachineError, UserError
from rocm3d.scan.selection import RuleSettings, Selection
from rocm3d.scan.stage import readiness, scan
from rocm3d.scan.unscanned import require_source, unscanned_in
from rocm3d.workspace.configuration import Configuration, read_configuration
from rocm3d.workspace.documents import Documents
from rocm3d.workspace.interrupts import delayed_interrupts
from rocm3d.workspace.machine_name import machine_name, today
from rocm3d.workspace.programs import exclude_repository
from rocm3d.workspace.state import COPY_RECORD, DEPENDENCY_LIST, PORT_FOLDER, STATE_FOLDER
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from rocm3d.apply.edit_selection import EditSelection
    from rocm3d.apply.request import ApplyRequest
    from rocm3d.apply.stage import ApplyOutcome
    from rocm3d.apply.undo import UndoResult
    from rocm3d.evidence.port_runs import PortRun
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.evidence import Evidence
    from rocm3d.model.fit import Fit
    from rocm3d.model.inventory import Scan, UnscannedCode
    from rocm3d.model.patch import Patch
    from rocm3d.model.plan import Plan
    from rocm3d.model.plan_choices import LicenceRule, Platform
    from rocm3d.model.port_state import PortState
    from rocm3d.model.stack import Stack
    from rocm3d.model.target import Gpu
    from rocm3d.model.verdict import Level, Verdicts
    from rocm3d.plan.stacks import PlanOptions
    from rocm3d.render.html import PortReportView
    from rocm3d.verify.backends.environment import Environment
    from rocm3d.verify.compilation.compile_options import CompileOptions
    from rocm3d.verify.probe import Network
    from rocm3d.verify.resolution.candidates import Candidate
    from rocm3d.verify.runs.stored_run import StoredRun
    from rocm3d.workspace.journal import UndoJournal
    from rocm3d.workspace.result_cache import ResultCache
    from rocm3d.workspace.submodule_sources import SubmoduleSource

Progress = Callable[[str], None]

COMMIT = "port.patch"
FOLDER = PORT_FOLDER
REPORT = "report.html"


@dataclass(frozen=True)
class ApplyOptions:
    """How a plan is applied. `patch_file` gets a copy of the whole change, for `git am`."""

    safe_only: bool = False
    dry_run: bool = False
    allow_dirty: bool = False
    selection: EditSelection | None = None
    patch_file: Path | None = None


@dataclass(frozen=True)
class ComputedPort:
    """What apply computed, the patch with its tasks, and the scan of the edited tree."""

    outcome: ApplyOutcome
    patch: Patch
    inventory: Scan


@dataclass(frozen=True)
class PortDocuments:
    """The documents of a port, and the path of its report."""

    plan: Plan
    patch: Patch
    verdicts: Verdicts
    evidence: Evidence
    report: Path
    state: PortState


@contextlib.contextmanager
def _after_edits() -> Iterator[None]:
    """What fails in this block because of the disk fails after the edits: the message says so."""
    try:
        yield
    except UserError as error:
        if not isinstance(error.__cause__, OSError):
            raise
        raise UserError(
            f"{error.message}; the files of the port are written",
            hint="free disk space and repeat the command; `rocm3d undo` restores every file",
        ) from error


def load_knowledge(overlay: Path | None, *, cached: bool) -> Knowledge:
    """The knowledge base with the user's overlay."""
    from rocm3d.knowledge.load import load

    return load(overlay, _cache("knowledge") if cached else None)


def open_repository(  # noqa: PLR0913  (options of the command line)
    path: Path,
    knowledge: Callable[[], Knowledge],
    only: tuple[str, ...] = (),
    skip: tuple[str, ...] = (),
    *,
    isolated: bool = False,
    any_folder: bool = False,
    needs_git: bool = False,
    **options: object,
) -> Repository:
    """The repository with its settings; `only` and `skip` override them. `options` are fields of Repository.

    With `isolated` neither its settings nor its ignore comments count. Raises UserError for a folder with nothing to
    scan, unless `any_folder`: for commands that read what others wrote. `needs_git`: also for one that git cannot undo.
    """
    settings = Configuration.model_construct() if isolated else read_configuration(Tree.open(path))
    if not any_folder:
        require_source(Tree.open(path))
    if needs_git:
        _require_git(path.resolve())
    hidden = RuleSettings(settings.source, () if only else settings.only, () if skip else settings.skip)
    selection = Selection(only, skip, settings=hidden if hidden.text else None, isolated=isolated)
    loaded = knowledge()
    selection.check(loaded)
    return Repository(path, loaded, selection=selection, settings=settings, **options)  # type: ignore[arg-type]


def _require_git(root: Path) -> None:
    """Raises UserError for a folder outside git. Not for a copy, and not for a folder that was ported before."""
    from rocm3d.workspace.git import is_tracked_folder
    from rocm3d.workspace.journal import UndoJournal

    if not (_is_copy(root) or UndoJournal.open(root).entries or is_tracked_folder(root)):
        raise UserError(
            f"{root} is not in a git repository",
            hint="port a copy with --into DIR, or pass --yes to edit it in place; `rocm3d undo` restores every file",
        )


@dataclass
class Repository:
    """One repository, its knowledge base and its work folder: each stage is a method, each result a document.

    With `reads_only` nothing is written to the repository, not even a lock: it is copied.
    """

    root: Path
    knowledge: Knowledge
    work: Path | None = None
    folder: str = PORT_FOLDER
    selection: Selection = field(default_factory=Selection)
    progress: Progress = lambda _: None
    cached: bool = False
    settings: Configuration = field(default_factory=Configuration.model_construct)
    reads_only: bool = False

    def __post_init__(self) -> None:
        Tree.open(self.root)
        self.root = self.root.resolve()
        exclude_repository(self.root)
        self.documents = Documents.of(self.root, self.work, create=not self.reads_only)
        self.is_copy = _is_copy(self.root)
        self.unscanned: tuple[UnscannedCode, ...] = ()  # of the latest scan
        self._planned_gpu = ""
        self._lock_depth = 0

    def ignore_settings(self) -> None:
        """From now on neither the repository's settings nor its ignore comments count."""
        self.selection = replace(self.selection, settings=None, isolated=True)
        self.settings = Configuration.model_construct()

    def port(  # noqa: PLR0913  (options of the command)
        self,
        gpu: Gpu,
        levels: tuple[Level, ...],
        plan_options: PlanOptions | None = None,
        apply_options: ApplyOptions | None = None,
        *,
        licence_policy: LicenceRule | None = None,
        environment: Environment | None = None,
        building: CompileOptions | None = None,
    ) -> PortDocuments:
        """All stages in order. Documents are handed on in memory, and each state of the tree is scanned once.

        Nothing is compiled without `building`.
        """
        from rocm3d.render import html

        with self.locked("port"):
            inventory = self._scan_original()
            plan = self.plan(gpu, plan_options, inventory)
            plan.require_licences(licence_policy)
            patch, edited_inventory = self._apply(plan, apply_options or ApplyOptions())
            with _after_edits():
                verdicts = self.verify(levels, (), None, environment, building, inventory=edited_inventory)
                evidence = self.evidence()
                view = self.report()
                report = self.documents.write_text(self.documents.folder / REPORT, html.render(view))
        return PortDocuments(plan, patch, verdicts, evidence, report, view.state)

    def scan(self, baseline: Scan | None = None) -> Scan:
        """Scan the current tree. The document has all findings; those of the baseline are not returned."""
        document = self._scan(self.source_tree(), self.selection)
        self.documents.write(document)
        if baseline is None:
            return document
        from rocm3d.model.finding import new_findings

        new = new_findings(document.findings, baseline.findings)
        return document.model_copy(update={"findings": new, "known": len(document.findings) - len(new)})

    def plan(
        self, gpu: Gpu, options: PlanOptions | None = None, inventory: Scan | None = None, *, lock: bool = False
    ) -> Plan:
        """Plan and write the documents. Without an inventory, scans the tree as it was before any apply.

        With `lock` the requirements are resolved, which uses the network.
        """
        from rocm3d.plan.stacks import PlanOptions
        from rocm3d.plan.stage import plan

        self._planned_gpu = gpu.product
        before, options = self._located(inventory) if inventory else self._scan_original(), options or PlanOptions()
        document = (
            self._resolved_plan(before, gpu, options) if lock else plan(before, gpu, self.knowledge, today(), options)
        )
        if not self.reads_only:
            self.documents.write(before)
            self.documents.write(document)
        return document

    def _resolved_plan(self, scan: Scan, gpu: Gpu, options: PlanOptions) -> Plan:
        """The plan for the first stack on which uv can install all requirements, with what it would install."""
        from rocm3d.verify.resolution.candidates import first_that_resolves
        from rocm3d.verify.resolution.locking import find_uv_resolver

        resolver, tried = find_uv_resolver(), dict[str, str]()
        first = self._candidate(scan, gpu, options)

        def candidate(unresolved: Mapping[str, str]) -> Candidate | None:
            tried.update(unresolved)
            if first is None or not unresolved:
                return first
            return self._other_candidate(scan, first.plan, replace(options, unresolved=unresolved))

        result = first_that_resolves(candidate, resolver, self.knowledge, {}, self.progress)
        if result is None:
            if not tried:
                raise UserError("the plan chose no stack, so there is nothing to lock")
            raise MachineError(
                f"the requirements do not resolve: {_join_reasons(tried)}",
                hint="leave out --stack to try the others" if options.stack else "change one of these requirements",
            )
        document = result.candidate.plan
        assert document.stack is not None
        left_out = result.resolution.left_out
        exceptions = f", except: {'; '.join(left_out)}" if left_out else ""
        note = f"; resolves with {resolver.label}{exceptions}"
        stack = document.stack.model_copy(update={"reason": f"{document.stack.reason}{note}"})
        return document.model_copy(update={"stack": stack, "resolved": result.resolution.resolved})

    def _candidate(self, scan: Scan, gpu: Gpu, options: PlanOptions) -> Candidate | None:
        """The best plan, and the requirements files of its port; None if no stack is left."""
        from rocm3d.apply.additions.constraints import render as constraints
        from rocm3d.apply.additions.requirements import render as requirements
        from rocm3d.plan.stage import plan
        from rocm3d.verify.resolution.candidates import Candidate

        document, tree = plan(scan, gpu, self.knowledge, today(), options), self.source_tree()
        if document.base is None:
            return None
        files = {**constraints(document, tree, self.folder), **requirements(document, tree, self.folder)}
        return Candidate(document, files)

    def installed(self, gpu: Gpu, interpreter: Path | None, platform: Platform) -> Stack:
        """The installed torch, as a stack to plan for."""
        from rocm3d.host.installed_torch import installed_stack, read_torch
        from rocm3d.host.interpreter import find_interpreter

        torch = read_torch(find_interpreter(self.root, interpreter))
        return installed_stack(torch, gpu, platform, today(), self.knowledge.stacks.values())

    def fit(self, gpu: Gpu, as_of: date | None = None, against: Sequence[str] = ()) -> Fit:
        """Whether it fits a GPU, and a comparison with NVIDIA cards. Writes no document: not a stage of a port."""
        from rocm3d.plan.comparison import ComparisonRequest
        from rocm3d.plan.fitness import fitness
        from rocm3d.plan.stage import plan

        rivals = [self.knowledge.nvidia_card(card) for card in against]
        planned = plan(self._scan_original(), gpu, self.knowledge, today())
        port = self.knowledge.ports.get(planned.known_as or "")
        return fitness(ComparisonRequest(gpu, self.knowledge, today(), rivals, plan=planned), port, as_of or today())

    @contextlib.contextmanager
    def copy_into(self, into: Path, *, with_git: bool = False) -> Iterator[Repository]:
        """Copy the repository and its scan to another folder; this one does not change.

        If the block raises before the copy is ported, the copy is removed.
        """
        from rocm3d.model.inventory import Scan
        from rocm3d.workspace.copy_record import record_of, write_copy_record
        from rocm3d.workspace.journal import UndoJournal
        from rocm3d.workspace.tree_copy import copied_tree, refuse_target
        from rocm3d.workspace.tree_lock import lock_to_read

        refuse_target(self.root, into, with_git=with_git)
        with contextlib.ExitStack() as stack:
            with lock_to_read(self.root, self.progress):
                record = record_of(self.root)
                copied = copied_tree(
                    self.root,
                    into,
                    self.progress,
                    with_git=with_git,
                    is_ported=lambda: bool(UndoJournal.open(into).entries),
                )
                stack.enter_context(copied)
            write_copy_record(into, record)
            copy = replace(self, root=into, reads_only=False)
            # The plan made here is applied to the copy, and its report needs this scan. A damaged document is skipped.
            with contextlib.suppress(UserError):
                if (document := self.documents.find(Scan)) is not None:
                    copy.documents.write(document)
            yield copy

    def missing_submodules(self) -> tuple[SubmoduleSource, ...]:
        """Submodules without files. A `problem` of one is the reason why it cannot be fetched."""
        from rocm3d.manifest.submodules import repository_submodules
        from rocm3d.workspace.copy_record import read_copy_record
        from rocm3d.workspace.submodule_sources import SubmoduleSource, submodule_sources

        has_git = os.path.lexists(self.root / ".git")
        record = None if has_git else read_copy_record(self.root)
        sources = submodule_sources(self.root) if record is None else record.missing
        known = {item.path: item for item in sources if not item.is_checked_out}
        tree = self.source_tree()
        listed = {item.path for item in repository_submodules(tree)}
        missing = [path for path in sorted(listed | known.keys()) if not _has_files(self.root / path)]
        problem = "git has recorded no commit for it" if has_git or record else f"{self.root} has no data of git"
        return tuple(known.get(path) or SubmoduleSource(path, "", "", problem=problem) for path in missing)

    def fetch_submodules(self, sources: Sequence[SubmoduleSource]) -> tuple[str, ...]:
        """Fetch them into this tree, with the user's own git configuration. Returns one line for each that failed."""
        if not sources:
            return ()
        from rocm3d.workspace.copy_record import read_copy_record, write_copy_record
        from rocm3d.workspace.submodule_fetch import SubmoduleFetch

        with self.locked("port"):
            keeps_git = os.path.lexists(self.root / ".git")
            fetch = SubmoduleFetch(self.root, self.progress, keep_git=keeps_git)
            fetch.fetch_all(sources)
            record = None if keeps_git else read_copy_record(self.root)
            if record is not None and fetch.fetched:
                write_copy_record(self.root, record.with_fetched(self.root, fetch.fetched))
        return tuple(item.text for item in fetch.failed)

    def fetch_dependencies(self) -> tuple[str, ...]:
        """Fetch the git dependencies that name a commit, as `fetch_submodules` does."""
        from rocm3d.dependency_patches import fetch_dependencies

        with self.locked("port"):
            unscanned = self._scan_original().inventory.unscanned
            return fetch_dependencies(self.root, unscanned, self.progress, self._unscanned_of)

    def apply(self, plan: Plan, options: ApplyOptions | None = None) -> Patch:
        """Apply in place. Nothing is written before everything is computed and proven.

        The work folder also gets the complete change as one file for `git am`.
        """
        options = options or ApplyOptions()
        with contextlib.nullcontext() if options.dry_run else self.locked("apply"):
            return self._apply(plan, options)[0]

    def _apply(self, plan: Plan, options: ApplyOptions) -> tuple[Patch, Scan]:
        """The patch, and the scan of the edited tree."""
        from rocm3d.apply.edit_selection import EditSelection
        from rocm3d.apply.request import ApplyRequest
        from rocm3d.apply.stage import refuse_foreign_folder
        from rocm3d.apply.submodules import checked_out_submodules
        from rocm3d.model.review import ReviewAnswers, declined_edits
        from rocm3d.workspace.journal import UndoJournal

        journal = UndoJournal.open(self.root)
        if not options.dry_run:
            self._require_safe_tree(journal, allow_dirty=options.allow_dirty)
        tree = Tree.open(self.root)
        refuse_foreign_folder(tree, self.folder, own=journal.entries)
        request = ApplyRequest(
            self.folder,
            options.safe_only,
            options.dry_run,
            _originals(journal),
            options.selection or EditSelection(),
            checked_out_submodules(tree),
            declined_edits(self.documents.find_own(ReviewAnswers)),
        )
        port = self.computed_port(plan, request)
        if options.patch_file is not None:
            self.documents.write_bytes(options.patch_file, port.outcome.commit)
        patch = port.patch if options.dry_run else self.write_port(port, journal)
        return patch, port.inventory

    def computed_port(self, plan: Plan, request: ApplyRequest) -> ComputedPort:
        """All edits and added files, with the tasks that remain. Writes nothing."""
        from rocm3d.apply.stage import apply
        from rocm3d.apply.tasks import (
            EditedFiles,
            grouped_tasks,
            open_findings,
            remaining_findings,
            settled_refusals,
        )
        from rocm3d.dependency_patches import dependency_ports, with_dependencies
        from rocm3d.evidence.port_state import plan_digest
        from rocm3d.model.patch import Patch

        ports = dependency_ports(self.root, lambda path: self._port_of_dependency(path, plan, request))
        request = replace(request, dependency_patches={item.file: item.data for item in ports if item.data})
        outcome = apply(plan, self.source_tree(), request, self.documents.find_own(Patch))
        contents = {**outcome.contents, **outcome.submodule_contents}
        edited = {path: data for path, data in contents.items() if not path.startswith(f"{self.folder}/")}
        inventory = self._scan(self.source_tree(edited), Selection())
        remaining = remaining_findings(plan, outcome.patch, inventory)
        files = EditedFiles(outcome.originals, edited, inventory)
        unresolved = open_findings(plan, outcome.patch.refused, remaining, files)
        changes = {
            "refused": settled_refusals(plan, outcome.patch.refused, files),
            "left": (*outcome.patch.left, *remaining),
            "tasks": grouped_tasks(unresolved, self.knowledge),
            "plan": plan_digest(plan),
        }
        patch = with_dependencies(outcome.patch.model_copy(update=changes), ports)
        return ComputedPort(outcome, patch, inventory)

    def write_port(self, port: ComputedPort, journal: UndoJournal) -> Patch:
        """Write the files, then the documents. Patches of submodules that the port no longer has are removed.

        Nobody commits a copy, so its submodules are edited, too: it can be built as it is. Ctrl-C takes effect when
        the tree and its documents agree.
        """
        from rocm3d.workspace.writer import Writer

        edits_of_submodules = port.outcome.submodule_contents if self.is_copy else {}
        with delayed_interrupts():
            with self.documents.reserved(len(port.outcome.commit) + len(port.patch.to_json())):
                self._write({**port.outcome.contents, **edits_of_submodules}, journal)
            with _after_edits():
                for path in stale_patches(port.patch, journal):
                    Writer(self.root, journal).restore(path, None)
                patch = port.patch.model_copy(update={"tree": self._tree_digest(port.patch)})
                self.documents.write(patch)
                self.documents.write_own(COMMIT, port.outcome.commit)
        return patch

    def _write(self, contents: Mapping[str, bytes], journal: UndoJournal) -> None:
        """All or nothing."""
        from rocm3d.workspace.writer import Writer

        Writer(self.root, journal).write(dict(sorted(contents.items())), self.progress)

    def _require_safe_tree(self, journal: UndoJournal, *, allow_dirty: bool) -> None:
        from rocm3d.apply.submodules import has_only_port_changes
        from rocm3d.apply.undo import changed_since
        from rocm3d.model.patch import Patch
        from rocm3d.workspace.git import uncommitted_state

        state, earlier = uncommitted_state(self.root), self.documents.find_own(Patch)
        dirty = None if state is None else [*state.changed, *state.unknown]
        foreign = [
            path
            for path in dirty or ()
            if path not in journal.entries
            and path.rstrip("/") != self.folder
            and not path.startswith(f"{self.folder}/")
            and not has_only_port_changes(self.root, path, earlier)
        ]
        if foreign and not allow_dirty and not self.is_copy:
            raise UserError(
                _uncommitted_message(self.root.name, foreign, state.unknown if state else ()),
                hint="commit them, port a copy with --into DIR, or pass --allow-dirty",
            )
        changed = changed_since(journal)
        if changed and dirty == []:
            # The changes are committed: from now on git can undo them. Whether git has the originals too is unknown.
            journal.retire()
        elif changed:
            raise UserError(
                f"changed since the last apply: {', '.join(changed[:3])}",
                hint="run `rocm3d undo --keep-changed` first, or commit your work",
            )

    def undo(self, *, keep_changed: bool, trust_journal: bool = False) -> UndoResult:
        """Restore the tree before the first apply. `trust_journal`: also from a journal that somebody else wrote."""
        from rocm3d.apply.undo import undo
        from rocm3d.workspace.journal import UndoJournal
        from rocm3d.workspace.writer import Writer

        with self.locked("undo"):
            journal = UndoJournal.open(self.root, trust=trust_journal)
            if not journal.entries:
                raise UserError(f"nothing to undo in {self.root}", hint="`rocm3d apply` has not changed this tree")
            return undo(journal, Writer(self.root, journal), keep_changed=keep_changed)

    @contextlib.contextmanager
    def locked(self, command: str) -> Iterator[None]:
        """Hold the lock of the tree, against other processes. A stage that changes the tree takes it by itself."""
        from rocm3d.workspace.tree_lock import lock_tree
        from rocm3d.workspace.writer import remove_leftovers

        with contextlib.ExitStack() as stack:
            if self._lock_depth == 0:
                stack.enter_context(lock_tree(self.root, command, self.progress))
                remove_leftovers(self.root)
            self._lock_depth += 1
            try:
                yield
            finally:
                self._lock_depth -= 1

    def locked_if_ported(self, command: str) -> AbstractContextManager[None]:
        """As `locked`, for what only reads the tree: nothing is locked, or created, where no port can be under way."""
        is_ported = os.access(self.root / STATE_FOLDER, os.W_OK)
        return self.locked(command) if is_ported else contextlib.nullcontext()

    def environment(self, interpreter: Path | None) -> Environment:
        """The Python environment of the repository, or the reason why there is none."""
        from rocm3d.host.interpreter import find_interpreter
        from rocm3d.verify.backends.environment import Environment

        try:
            return Environment.of(find_interpreter(self.root, interpreter), self.root)
        except MachineError as error:
            return Environment(unavailable_reason=f"{error.message}: {error.hint}")

    def verify(  # noqa: PLR0913  (options of the command)
        self,
        levels: tuple[Level, ...],
        targets: tuple[str, ...],
        network: Network | None = None,
        environment: Environment | None = None,
        building: CompileOptions | None = None,
        *,
        inventory: Scan | None = None,
    ) -> Verdicts:
        """Check the port. Uses the network and runs the repository's code only through the arguments passed in.

        Returns what is known of the files now: also the verdicts of levels and targets that are not checked now.
        `inventory` is the scan of the edited tree, if there is one.
        """
        with self.locked_if_ported("verify"):
            return self._verify(levels, targets, network, environment, building, inventory)

    def _verify(  # noqa: PLR0913, PLR0917  (the options of verify)
        self,
        levels: tuple[Level, ...],
        targets: tuple[str, ...],
        network: Network | None,
        environment: Environment | None,
        building: CompileOptions | None,
        inventory: Scan | None,
    ) -> Verdicts:
        from rocm3d.apply.ported_submodules import ported_submodules
        from rocm3d.evidence.port_runs import port_runs
        from rocm3d.evidence.verdict_merge import as_of, merge_verdicts, with_tree
        from rocm3d.model.evidence import Evidence
        from rocm3d.model.patch import Patch
        from rocm3d.model.plan import Plan
        from rocm3d.verify.backends.environment import Environment
        from rocm3d.verify.compilation.compile_options import CompileOptions
        from rocm3d.verify.probe import Case, Network
        from rocm3d.verify.stage import verify
        from rocm3d.workspace.journal import UndoJournal

        patch, plan = self.documents.read(Patch), self.documents.read(Plan)
        # A port that was made elsewhere: the user named its documents, and its originals are only compared with.
        journal = UndoJournal.open(self.root, trust=self.work is not None)
        modules = ported_submodules(patch, Tree.open(self.root))
        runs = port_runs(self.documents, self.root)
        case = Case(
            plan,
            patch.model_copy(update={"changes": (*patch.changes, *modules.changes)}),
            Tree.open(self.root, overlay=modules.after),
            {**_originals(journal), **modules.before},
            inventory or self._scan(self.source_tree(modules.after), Selection()),
            targets or self._default_targets(plan.gpu),
            self.knowledge,
            network or Network(),
            environment or Environment(),
            building or CompileOptions(),
            tuple(_stored_run(run) for run in runs),
            lambda unresolved: self._verified_candidate(plan, unresolved),
        )
        tree = self._tree_digest()
        document = merge_verdicts(self._stored_verdicts(), with_tree(verify(case, levels), tree), levels)
        self.documents.write(document)
        if self.documents.find_own(Evidence) is not None:
            self._seal(runs)  # else the old seal would report the new document as changed
        return as_of(document, tree)

    def _stored_verdicts(self) -> Verdicts | None:
        """A damaged document, or one of another version, is replaced."""
        from rocm3d.model.verdict import Verdicts

        with contextlib.suppress(UserError):
            return self.documents.find_own(Verdicts)
        return None

    def _other_candidate(self, scan: Scan, plan: Plan, options: PlanOptions) -> Candidate | None:
        """The best plan for another stack; none if more packages would be blocked than in the plan."""
        other = self._candidate(scan, plan.gpu, options)
        return None if other is None or len(other.plan.blocked) > len(plan.blocked) else other

    def _verified_candidate(self, plan: Plan, unresolved: Mapping[str, str]) -> Candidate | None:
        """The best plan for another stack than that of a port; none for a torch that the user has chosen."""
        from rocm3d.plan.stacks import PlanOptions

        if plan.base is None or plan.base.id not in self.knowledge.stacks:
            return None
        options = PlanOptions(prefer=plan.prefer, platform=plan.platform, unresolved=unresolved)
        return self._other_candidate(self._scan_original(), plan, options)

    def evidence(self) -> Evidence:
        """Seal the documents of the stages."""
        from rocm3d.evidence.port_runs import port_runs

        return self._seal(port_runs(self.documents, self.root))

    def state(self, patch: Patch | None = None) -> PortState:
        """How far the port is, from the documents and the files now. `patch`: one that was not written."""
        from rocm3d.evidence.port_runs import port_runs

        return self._state(self._tree_digest(), port_runs(self.documents, self.root), patch)

    def _state(self, tree: str, runs: Sequence[PortRun], patch: Patch | None = None) -> PortState:
        from rocm3d.evidence.port_state import PortFacts, port_state
        from rocm3d.host.kfd import gpus
        from rocm3d.model.inventory import Scan
        from rocm3d.model.patch import Patch
        from rocm3d.model.plan import Plan
        from rocm3d.model.verdict import Verdicts
        from rocm3d.verify.runs.verdicts import run_command

        find = self.documents.find_own
        plan = find(Plan)
        has_gpu = plan is not None and plan.gpu.gfx in gpus(integrated=self.knowledge.integrated_targets)
        return port_state(
            PortFacts(
                tree,
                find(Scan),
                plan,
                find(Patch) or patch,
                find(Verdicts),
                tuple(run.sealed for run in runs),
                has_gpu,
                run_command(self.knowledge.ports.get(plan.known_as or "") if plan else None),
            )
        )

    def _tree_digest(self, patch: Patch | None = None) -> str:
        """Of the files that verdicts are about. Only apply knows the name of the port's folder without its patch."""
        from rocm3d.evidence.port_runs import written_by_earlier_runs
        from rocm3d.evidence.tree_digest import tree_digest
        from rocm3d.model.patch import Patch

        patch = patch or self.documents.find_own(Patch)
        return tree_digest(self.root, patch.folder if patch else self.folder, written_by_earlier_runs(self.documents))

    def _seal(self, runs: Sequence[PortRun]) -> Evidence:
        from rocm3d.evidence.bundle import seal_evidence
        from rocm3d.evidence.verdict_merge import as_of
        from rocm3d.model.inventory import Scan
        from rocm3d.model.patch import Patch
        from rocm3d.model.plan import Plan
        from rocm3d.model.verdict import Verdicts

        read = self.documents.read
        tree = self._tree_digest()
        plan, patch, verdicts = read(Plan), read(Patch), as_of(read(Verdicts), tree)
        paths = [self.documents.path(kind) for kind in (Scan, Plan, Patch, Verdicts)]
        sealed = {path.name: path.read_bytes() for path in paths}
        sealed_runs, now = [run.sealed for run in runs], datetime.now(timezone.utc)
        document = seal_evidence(plan, patch, verdicts, sealed, now, machine_name(), sealed_runs)
        document = document.model_copy(update={"state": self._state(tree, runs)})
        self.documents.write(document)
        return document

    def report(self) -> PortReportView:
        """The contents of the report page, including recorded runs and what changed since it was sealed."""
        from rocm3d.evidence.bundle import changed_since_sealed
        from rocm3d.evidence.port_runs import port_runs
        from rocm3d.evidence.run_bundles import joined_runs
        from rocm3d.evidence.verdict_merge import as_of
        from rocm3d.model.evidence import Evidence
        from rocm3d.model.inventory import Scan
        from rocm3d.model.patch import Patch
        from rocm3d.model.plan import Plan
        from rocm3d.model.verdict import Verdicts
        from rocm3d.render.html import PortReportView

        read, folder = self.documents.read, self.documents.folder
        tree = self._tree_digest()
        documents = read(Scan), read(Plan), read(Patch), (verdicts := as_of(read(Verdicts), tree))
        evidence = self.documents.find_own(Evidence) or self.evidence()
        current = {item.path: _read_if_file(folder / item.path) for item in evidence.documents}
        runs, unread = joined_runs(self.documents)
        titles = {item.id: item.title for item in self.knowledge.families.values()}
        families = {item.id: titles.get(item.family, item.family) for item in self.knowledge.packages.values()}
        stored = port_runs(self.documents, self.root, (runs, unread))
        changed = tuple(changed_since_sealed(evidence, current, [run.sealed for run in stored]))
        evidence = evidence.model_copy(update={"state": self._state(tree, stored), "verdicts": verdicts.verdicts})
        return PortReportView(*documents, evidence, changed, runs, unread, families)

    def source_tree(self, overlay: Mapping[str, bytes | None] | None = None) -> Tree:
        """The repository's own files, without the port folder. `overlay` replaces contents."""
        return Tree.open(self.root, excluded_folders=self._port_folders(), overlay=overlay)

    def _port_folders(self) -> frozenset[str]:
        if not (self.root / self.folder).is_dir():
            return frozenset()
        from rocm3d.apply.stage import is_port_folder

        return frozenset({self.folder} if is_port_folder(Tree.open(self.root), self.folder) else ())

    def _scan(self, tree: Tree, selection: Selection) -> Scan:
        return self._located(
            scan(tree, self.knowledge, selection, self.progress, _cache("scan") if self.cached else None)
        )

    def _located(self, document: Scan) -> Scan:
        """The scan with what is known of this place, besides its files, about code that was not scanned."""
        inventory = document.inventory
        self.unscanned = unscanned_in(
            inventory.unscanned,
            self.root,
            self.folder,
            is_copy=self.is_copy,
            fetched=self._fetched(),
            gpu=self._planned_gpu,
        )
        if self.unscanned == inventory.unscanned:
            return document
        state, reasons = readiness(
            document.all_findings, inventory.dependencies, self.knowledge, is_complete=not self.unscanned
        )
        changes = {"unscanned": self.unscanned, "readiness": state, "reasons": reasons}
        return document.model_copy(update={"inventory": inventory.model_copy(update=changes)})

    def _fetched(self) -> dict[str, tuple[UnscannedCode, ...]]:
        """What was not scanned of each fetched dependency, by `URL@commit`."""
        if not (self.root / STATE_FOLDER / DEPENDENCY_LIST).exists():
            return {}
        from rocm3d.workspace.fetched_dependencies import read_fetched_dependencies

        return {f"{item.url}@{item.commit}": item.unscanned for item in read_fetched_dependencies(self.root)}

    def _opened(self, dependency: Path) -> Repository:
        """A fetched dependency, to read only."""
        return replace(self, root=dependency, work=None, selection=Selection(isolated=True), reads_only=True)

    def _unscanned_of(self, dependency: Path) -> tuple[UnscannedCode, ...]:
        return self._opened(dependency)._scan_original().inventory.unscanned

    def _port_of_dependency(self, path: Path, plan: Plan, request: ApplyRequest) -> tuple[ApplyOutcome, Patch]:
        """For the GPU and the stack of the plan of this repository."""
        from rocm3d.apply.request import ApplyRequest
        from rocm3d.apply.submodules import checked_out_submodules
        from rocm3d.plan.stacks import PlanOptions

        opened = self._opened(path)
        stack = plan.stack.id if plan.stack is not None and plan.stack.id in self.knowledge.stacks else None
        planned = opened.plan(plan.gpu, PlanOptions(stack, "", plan.prefer, plan.platform))
        port = opened.computed_port(
            planned,
            ApplyRequest(
                opened.folder,
                request.safe_only,
                dry_run=True,
                selection=request.selection,
                submodules=checked_out_submodules(Tree.open(path)),
            ),
        )
        return port.outcome, port.patch

    def _scan_original(self) -> Scan:
        """Scan as if nothing had been applied, so that planning again gives the same plan."""
        from rocm3d.apply.submodules import patched_files
        from rocm3d.apply.undo import changed_since
        from rocm3d.model.patch import Patch
        from rocm3d.workspace.journal import UndoJournal

        journal = UndoJournal.open(self.root)
        intact = set(journal.entries) - set(changed_since(journal))
        overlay = {path: journal.original(path) for path in intact}
        overlay |= dict(patched_files(Tree.open(self.root), self.documents.find_own(Patch)))
        return self._scan(self.source_tree(overlay), self.selection)

    def _default_targets(self, gpu: Gpu) -> tuple[str, ...]:
        """The plan's target, and one of the other wave size: of those that the toolchain made of wheels can build.

        An installed ROCm can build these, too. The one that most stacks support is chosen.
        """
        from rocm3d.toolchain.finder import newest_recipe

        recipes, targets = self.knowledge.toolchains, self.knowledge.targets
        buildable = newest_recipe(recipes).targets if recipes else ()
        others = [gfx for gfx in buildable if gfx in targets and targets[gfx].wave_size != gpu.wave_size]
        support = Counter(gfx for stack in self.knowledge.stacks.values() for gfx in stack.gfx)
        return (gpu.gfx, *sorted(others, key=lambda gfx: support[gfx])[-1:])


def stale_patches(patch: Patch, journal: UndoJournal) -> list[str]:
    """Patches of submodules that an earlier apply wrote and that are no longer part of the port."""
    folder, current = f"{patch.folder}/patches/", {item.file for item in (*patch.modules, *patch.dependencies)}
    paths = (path for path, entry in journal.entries.items() if path.startswith(folder) and entry.before is None)
    return [path for path in paths if path not in current and (journal.root / path).is_file()]


def _is_copy(root: Path) -> bool:
    """Whether `copy_into` of this user made it."""
    if not os.path.lexists(root / STATE_FOLDER / COPY_RECORD):
        return False
    from rocm3d.workspace.copy_record import read_copy_record

    return read_copy_record(root) is not None


def _has_files(folder: Path) -> bool:
    return folder.is_symlink() or (folder.is_dir() and any(folder.iterdir()))


def _join_reasons(reasons: Mapping[str, str]) -> str:
    """Each reason once, behind the stacks that have it."""
    by_reason: dict[str, list[str]] = {}
    for stack, reason in reasons.items():
        by_reason.setdefault(reason, []).append(stack)
    return "; ".join(f"{', '.join(stacks)}: {reason}" for reason, stacks in by_reason.items())


def _uncommitted_message(name: str, paths: Sequence[str], unknown: Sequence[str]) -> str:
    """Names changed files, or if there are none, those that only a filter could compare with the commit."""
    changed = [path for path in paths if path not in unknown]
    listed = changed or paths
    names = f"{', '.join(listed[:3])}{' ...' if len(listed) > 3 else ''}"
    if changed:
        return f"{name} has uncommitted changes: {names}"
    return f"{name} may have uncommitted changes: rocm3d runs no git filter, and only one can compare {names}"


def _cache(name: str) -> ResultCache | None:
    from rocm3d.workspace.result_cache import ResultCache

    return ResultCache.open(name)


def _originals(journal: UndoJournal) -> dict[str, bytes | None]:
    return {path: journal.original(path) for path in journal.entries}


def _stored_run(run: PortRun) -> StoredRun:
    from rocm3d.verify.runs.stored_run import StoredRun

    reason = "" if run.record else run.sealed.reason
    return StoredRun(run.sealed.folder, run.record, reason, run.sealed.of_these_sources)


def _read_if_file(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
