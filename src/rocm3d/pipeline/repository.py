"""A repository with all stages, as `rocm3d port` runs them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

from rocm3d.apply.ported_submodules import ported_submodules
from rocm3d.evidence.bundle import changed_since_sealed, seal_evidence
from rocm3d.evidence.port_runs import PortRun, port_runs
from rocm3d.evidence.run_bundles import joined_runs
from rocm3d.host.installed_torch import find_interpreter
from rocm3d.model.errors import MachineError, UserError
from rocm3d.model.evidence import Evidence
from rocm3d.model.inventory import Scan
from rocm3d.model.patch import Patch
from rocm3d.model.plan import Plan
from rocm3d.model.target import Gpu
from rocm3d.model.verdict import Level, Verdicts
from rocm3d.pipeline.applying import ApplyRepository
from rocm3d.pipeline.machine_name import machine_name
from rocm3d.render.html import PortReportView
from rocm3d.scan.selection import Selection
from rocm3d.verify.backends.environment import Environment
from rocm3d.verify.compilation.compile_options import CompileOptions
from rocm3d.verify.probe import Case, Network
from rocm3d.verify.runs.stored_run import StoredRun
from rocm3d.verify.stage import verify
from rocm3d.workspace.journal import UndoJournal
from rocm3d.workspace.tree import Tree
from rocm3d.workspace.writer import copy_tree


class Repository(ApplyRepository):
    """One repository, its knowledge base and its work folder: each stage is a method, each result a document."""

    def environment(self, interpreter: Path | None) -> Environment:
        """The Python environment of the repository, or the reason why there is none."""
        try:
            return Environment.of(find_interpreter(self.root, interpreter), self.root)
        except MachineError as error:
            return Environment(unavailable_reason=f"{error.message}: {error.hint}")

    def verify(
        self,
        levels: tuple[Level, ...],
        targets: tuple[str, ...],
        network: Network | None = None,
        environment: Environment | None = None,
        building: CompileOptions | None = None,
    ) -> Verdicts:
        """Check the port. Uses the network and runs the repository's code only through the arguments passed in."""
        journal = UndoJournal.open(self.root)
        patch, plan = self.documents.read(Patch), self.documents.read(Plan)
        modules = ported_submodules(patch, self._full_tree())
        originals = {**{path: journal.original(path) for path in journal.entries}, **modules.before}
        patch = patch.model_copy(update={"changes": (*patch.changes, *modules.changes)})
        current_scan = self._scan(
            Tree.open(self.root, excluded_folders=self._port_folders(), overlay=modules.after), Selection()
        )
        tree = Tree.open(self.root, overlay=modules.after)
        gpu_targets = targets or self._default_targets(plan.gpu)
        network_access, used_environment = network or Network(), environment or Environment()
        build_options = building or CompileOptions()
        runs = port_runs(self.documents.folder, self.root)
        case = Case(
            plan,
            patch,
            tree,
            originals,
            current_scan,
            gpu_targets,
            self.knowledge,
            network_access,
            used_environment,
            build_options,
            _recorded_runs(runs),
        )
        document = verify(case, levels)
        self.documents.write(document)
        if self.documents.find(Evidence) is not None:
            self._seal(runs)  # else the old seal would report the new document as changed
        return document

    def evidence(self) -> Evidence:
        """Seal the documents of the stages."""
        return self._seal(port_runs(self.documents.folder, self.root))

    def _seal(self, runs: Sequence[PortRun]) -> Evidence:
        read = self.documents.read
        plan, patch, verdicts = read(Plan), read(Patch), read(Verdicts)
        paths = [self.documents.path(kind) for kind in (Scan, Plan, Patch, Verdicts)]
        sealed = {path.name: path.read_bytes() for path in paths}
        sealed_runs = [run.sealed for run in runs]
        document = seal_evidence(plan, patch, verdicts, sealed, datetime.now(timezone.utc), machine_name(), sealed_runs)
        self.documents.write(document)
        return document

    def report(self) -> PortReportView:
        """The contents of the report page, including recorded runs and what changed since it was sealed."""
        read = self.documents.read
        scanned, planned, patch, verdicts = read(Scan), read(Plan), read(Patch), read(Verdicts)
        evidence = self.documents.find(Evidence) or self.evidence()
        current = {item.path: _read_if_file(self.documents.folder / item.path) for item in evidence.documents}
        runs, unread = joined_runs(self.documents.folder)
        titles = {item.id: item.title for item in self.knowledge.families.values()}
        families = {item.id: titles.get(item.family, item.family) for item in self.knowledge.packages.values()}
        sealed = [run.sealed for run in port_runs(self.documents.folder, self.root, (runs, unread))]
        changed = tuple(changed_since_sealed(evidence, current, sealed))
        return PortReportView(scanned, planned, patch, verdicts, evidence, changed, runs, unread, families)

    def copy_into(self, target: Path) -> Repository:
        """Copy the repository and its scan to another folder; this one does not change."""
        copy_tree(self.root, target)
        copy = Repository(target, self.knowledge, self.work, self.folder, self.selection, self.progress, self.cached)
        # The plan made here is applied to the copy, and its report needs this scan. A damaged document is skipped.
        with contextlib.suppress(UserError):
            if (scan := self.documents.find(Scan)) is not None:
                copy.documents.write(scan)
        return copy

    def _default_targets(self, gpu: Gpu) -> tuple[str, ...]:
        """The plan's target, and one target of the other wave size."""
        others = [t.gfx for t in self.knowledge.targets.values() if t.wave_size != gpu.wave_size]
        preferred = [gfx for stack in self.knowledge.stacks.values() for gfx in stack.gfx if gfx in others]
        return (gpu.gfx, *preferred[:1])


def _recorded_runs(runs: Sequence[PortRun]) -> tuple[StoredRun, ...]:
    return tuple(
        StoredRun(run.sealed.folder, run.record, "" if run.record else run.sealed.reason, run.sealed.of_these_sources)
        for run in runs
    )


def _read_if_file(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
