"""A repository's plan, and whether it fits a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from rocm3d.apply.submodules import patched_files
from rocm3d.apply.undo import changed_since
from rocm3d.host.installed_torch import find_interpreter, installed_stack, read_torch
from rocm3d.model.fit import Fit
from rocm3d.model.inventory import Scan
from rocm3d.model.patch import Patch
from rocm3d.model.plan import Plan
from rocm3d.model.plan_choices import Platform
from rocm3d.model.stack import Stack
from rocm3d.model.target import Gpu
from rocm3d.pipeline.machine_name import today
from rocm3d.plan.comparison import ComparisonRequest
from rocm3d.plan.fitness import fitness
from rocm3d.plan.stacks import PlanOptions
from rocm3d.plan.stage import plan
from rocm3d.repository import ScanRepository
from rocm3d.workspace.journal import UndoJournal
from rocm3d.workspace.tree import Tree


class PlanRepository(ScanRepository):
    def plan(self, gpu: Gpu, options: PlanOptions | None = None, inventory: Scan | None = None) -> Plan:
        """Plan and write the documents. Without an inventory, scans the tree as it was before any apply."""
        before = inventory or self._scan_original()
        document = plan(before, gpu, self.knowledge, today(), options)
        self.documents.write(before)
        self.documents.write(document)
        return document

    def installed(self, gpu: Gpu, interpreter: Path | None, platform: Platform) -> Stack:
        """The installed torch, as a stack to plan for."""
        torch = read_torch(find_interpreter(self.root, interpreter))
        return installed_stack(torch, gpu, platform, today(), self.knowledge.stacks.values())

    def fit(self, gpu: Gpu, as_of: date | None = None, against: Sequence[str] = ()) -> Fit:
        """Whether it fits a GPU, and a comparison with NVIDIA cards. Writes no document: not a stage of a port."""
        rivals = [self.knowledge.nvidia_card(card) for card in against]
        planned = plan(self._scan_original(), gpu, self.knowledge, today())
        port = self.knowledge.ports.get(planned.known_as or "")
        return fitness(ComparisonRequest(gpu, self.knowledge, today(), rivals, plan=planned), port, as_of or today())

    def _full_tree(self) -> Tree:
        return Tree.open(self.root)

    def _scan_original(self) -> Scan:
        """Scan as if nothing had been applied, so that planning again gives the same plan."""
        journal = UndoJournal.open(self.root)
        intact = set(journal.entries) - set(changed_since(journal))
        overlay = {path: journal.original(path) for path in intact}
        overlay |= dict(patched_files(self._full_tree(), self.documents.find(Patch)))
        tree = Tree.open(self.root, excluded_folders=self._port_folders(), overlay=overlay)
        return self._scan(tree, self.selection)
