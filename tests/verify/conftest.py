"""Small trees and hand-made documents for the probes."""

from __future__ import annotations

import pytest

from rocm3d.model.finding import Finding
from rocm3d.model.inventory import Counts, Inventory, Scan
from rocm3d.model.patch import FileChange, Patch, Proof, Refused
from rocm3d.model.plan import Plan, PlannedEdit
from rocm3d.model.target import Gpu
from rocm3d.verify.probe import Case
from rocm3d.workspace.journal import digest
from rocm3d.workspace.tree import Tree

GPU = Gpu(gfx="gfx942", product="mi300x", title="MI300X", wave_size=64, vram_gb=192)


def finding(path: str, code: str = "CU201") -> Finding:
    return Finding(
        code=code, rule="missing_header", severity="error", path=path, line=1, column=1, message="m", hint="h"
    )


def change(path: str, before: bytes | None, after: bytes) -> FileChange:
    return FileChange(
        path=path,
        kind="added" if before is None else "edited",
        before=None if before is None else digest(before),
        after=digest(after),
        recipes=() if before is None else ("header",),
        proof=Proof(kind="added-file", holds=True, detail="d"),
        diff="",
    )


@pytest.fixture
def case(tmp_path):
    """A case: what the patch says of (path, before, after), what lies in the tree, what is still found."""

    def make(changes=(), tree=None, originals=None, planned=(), found=(), refused=(), dry_run=False) -> Case:
        files = {path: after for path, _, after in changes} if tree is None else tree
        for path, data in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(data)
        edits = tuple(
            PlannedEdit(
                recipe="header",
                rewrite="guard_include",
                parameters={},
                safety="safe",
                path=path,
                findings=(finding(path),),
            )
            for path in planned
        )
        plan = Plan(
            repository="r",
            gpu=GPU,
            stack=None,
            base=None,
            rejected_stacks=(),
            decisions=(),
            edits=edits,
            answered=(),
            left=(),
            readiness="needs-edits",
            knowledge_date="2026-11-15",
        )
        patch = Patch(
            repository="r",
            folder="rocm-port",
            dry_run=dry_run,
            changes=tuple(change(*item) for item in changes),
            refused=tuple(Refused(path=path, recipe="header", reason="no") for path in refused),
            left=(),
        )
        inventory = Inventory(
            repository="r",
            counts=Counts(files=0, bytes=0, python=0, cuda=0, manifests=0),
            dependencies=(),
            extensions=(),
            families={},
            skipped=(),
            readiness="ready",
            reasons=(),
        )
        now = Scan(inventory=inventory, findings=tuple(found))
        known = {path: before for path, before, _ in changes} if originals is None else originals
        return Case(plan, patch, Tree.open(tmp_path), known, now, ("gfx942", "gfx1100"))

    return make


@pytest.fixture
def make_finding():
    return finding
