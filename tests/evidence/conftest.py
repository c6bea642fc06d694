"""Hand-made documents to count and seal."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from rocm3d.evidence.folder import BundleContents, write
from rocm3d.model.artifact import Artifact
from rocm3d.model.finding import Finding
from rocm3d.model.patch import FileChange, Patch, Proof, RefusedEdit
from rocm3d.model.plan import DependencyDecision, Plan, UnresolvedFinding
from rocm3d.model.run import InstalledPackage, KernelTime, Manifest, PeakMemory, RunRecord, Steps
from rocm3d.model.target import Gpu
from rocm3d.model.task import PortTask
from rocm3d.model.verdict import Verdict, Verdicts

GPU = Gpu(gfx="gfx942", product="mi300x", title="MI300X", wave_size=64, vram_gb=192)


@pytest.fixture
def documents():
    """A plan, a patch and verdicts with given counts."""

    def make(decisions=(), changed=0, left=0, refused=0, outcomes=(), levels=None) -> tuple[Plan, Patch, Verdicts]:
        result = Finding(code="PY101", rule="x", severity="error", path="a", line=1, column=1, message="m", hint="h")
        decided = tuple(
            DependencyDecision(name=f"p{at}", package="p", decision=decision, route="r", reason="because")
            for at, decision in enumerate(decisions)
        )
        plan = Plan(
            repository="r",
            gpu=GPU,
            stack=None,
            base=None,
            rejected_stacks=(),
            decisions=decided,
            edits=(),
            answered=(),
            left=(),
            readiness="partial",
            knowledge_date="2026-11-15",
        )
        proof = Proof(kind="added-file", holds=True, detail="d")
        changes = tuple(
            FileChange(path=f"f{at}", kind="added", before=None, after=f"{at:064}", recipes=(), proof=proof, diff="")
            for at in range(changed)
        )
        patch = Patch(
            repository="r",
            folder="rocm-port",
            dry_run=False,
            changes=changes,
            refused=tuple(
                RefusedEdit(path=f"f{at}", recipe="x", reason="no", kind="left_out") for at in range(refused)
            ),
            left=tuple(UnresolvedFinding(finding=result, reason="no") for _ in range(left)),
            tasks=tuple(PortTask(path=f"f{at}", reason="no", action="h") for at in range(left)),
        )
        found_levels = levels or ["static"] * len(outcomes)
        verdicts = tuple(
            Verdict(
                level=level,
                probe="p",
                outcome=outcome,
                reason="" if outcome == "passed" else f"why {level}",
                looked_at=("x",) if outcome == "passed" else (),
            )
            for level, outcome in zip(found_levels, outcomes, strict=True)
        )
        return plan, patch, Verdicts(repository="r", targets=("gfx942",), verdicts=verdicts)

    return make


@pytest.fixture
def make_run():
    """The record of a run; keywords change it."""

    def make(name="train", **values) -> RunRecord:
        manifest = Manifest(
            machine="Linux x86_64", gpu="MI300X", gfx="gfx942", rocm="7.2", torch="2.9.0", python="3.12",
            packages=(InstalledPackage(name="numpy", version="2.0"),), commit="0123456789abcdef", dirty=(),
        )  # fmt: skip
        splat = Artifact(path="out/a.ply", kind="splat", format="PLY", outcome="ok", metrics={"gaussians": 50000})
        kernel = KernelTime(name="ck_tile_fmha", calls=3, microseconds=400.0, backend="CK", operation="attention")
        first = RunRecord(
            name=name, command=("python", "train.py"), started=datetime(2026, 11, 15, tzinfo=timezone.utc),
            seconds=12.5, limit=600, status="finished", exit_code=0, manifest=manifest, kernels=(kernel,),
            profiled_seconds=2.0,
            backends={"attention": ("CK",)}, memory=PeakMemory(gpu_reserved=1 << 30, host=1 << 28),
            steps=(Steps(kind="optimizer", count=30, first_seconds=9.0, steady_seconds=0.1),), artifacts=(splat,),
        )  # fmt: skip
        return first.model_copy(update=values)

    return make


@pytest.fixture
def make_bundle(tmp_path, make_run):
    """A bundle with one run and one file."""

    def make(name="bundle", runs=None, files=None, **contents):
        held = {"files/log.txt": b"done\n"} if files is None else files
        write(
            BundleContents("repo", runs=(make_run(),) if runs is None else runs, files=held, **contents),
            tmp_path / name,
        )
        return tmp_path / name

    return make
