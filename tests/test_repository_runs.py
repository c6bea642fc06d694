"""Recorded runs of a port: their verdicts in verify, and their seal."""

from __future__ import annotations

import sys
from datetime import datetime, timezone

import pytest

from rocm3d.evidence.folder import BundleContents, write
from rocm3d.model.artifact import Artifact
from rocm3d.model.evidence import Evidence
from rocm3d.model.inventory import Scan
from rocm3d.model.run import InstalledPackage, KernelTime, LoadedModule, Manifest, RunRecord
from rocm3d.pipeline import Repository
from rocm3d.workload import RunRequest, new_run_folder, run_workload
from rocm3d.workspace.tree import source_digest


@pytest.fixture
def ported(example, knowledge):
    repository = Repository(example("splat-trainer"), knowledge)
    repository.apply(repository.plan(knowledge.gpu("gfx942")))
    return repository


@pytest.fixture
def with_run(ported, knowledge):
    """The port with a run kept beside it, and the folder of that."""
    into = new_run_folder(ported.root, "train")
    run_workload(RunRequest((sys.executable, "-c", "print(1)"), "train", ported.root, 60.0), into, knowledge)
    return ported, into


@pytest.fixture
def made_on_gpu():
    """A run of the code below a folder, as the recorder would leave it on an MI300X."""

    def make(root):
        manifest = Manifest(
            machine="m", gpu="AMD Instinct MI300X", gfx="gfx942", rocm="7.2", torch="2.9", commit="0" * 40,
            packages=(InstalledPackage(name="torch", version="2.9"),), sources=source_digest(root),
        )  # fmt: skip
        return RunRecord(
            name="train", command=("python", "train.py"), started=datetime(2026, 11, 15, tzinfo=timezone.utc),
            seconds=9.0, limit=60.0, status="finished", exit_code=0, manifest=manifest,
            modules=(LoadedModule(name="torch", file="/env/site-packages/torch/__init__.py"),),
            kernels=(KernelTime(name="Cijk", calls=1, microseconds=1.0, backend="Tensile", operation="gemm"),),
            backends={"gemm": ("Tensile",)}, profiled_seconds=0.3,
            artifacts=(Artifact(path="a.ply", kind="splat", outcome="ok", metrics={"gaussians": 5}),),
        )  # fmt: skip

    return make


def workload(repository):
    return [(entry.outcome, entry.reason) for entry in repository.verify(("workload",), ()).verdicts]


def test_without_a_run_the_command_is_named(ported):
    ((outcome, reason),) = workload(ported)

    assert outcome == "not_run"
    assert "rocm3d run -- CMD" in reason


def test_a_run_without_torch_shows_nothing(with_run):
    assert workload(with_run[0]) == [("not_run", "runs/train: the run did not import torch")]


def test_after_a_change_of_the_code_the_run_no_longer_counts(with_run):
    repository, _ = with_run
    (repository.root / "train.py").write_text("changed = True\n")

    ((outcome, reason),) = workload(repository)

    assert outcome == "not_run"
    assert "train: the code has changed since" in reason


def test_a_run_on_the_planned_gpu_passes_and_closes_the_chain(ported, made_on_gpu):
    write(BundleContents(runs=(made_on_gpu(ported.root),)), ported.documents.folder / "runs" / "train")
    assert {outcome for outcome, _ in workload(ported)} == {"not_run"}  # it could have come with the repository
    ported.documents.seal_existing("runs/train/evidence.json")

    assert {outcome for outcome, _ in workload(ported)} == {"passed", "not_run"}  # its rasterizer was not imported
    evidence = ported.evidence()

    assert "an artifact of a bounded workload" not in {item.link for item in evidence.missing}
    assert [item.missing for item in evidence.sealed_runs] == [()]


def test_the_evidence_lists_the_run_and_detects_a_change(with_run):
    repository, into = with_run
    repository.verify(("static",), ())
    (sealed,) = repository.evidence().sealed_runs

    assert (sealed.folder, sealed.outcome, sealed.of_these_sources) == ("train", "finished", True)
    assert {"backend", "artifact", "profile"} <= {entry.link for entry in sealed.missing}
    assert repository.report().moved == ()
    (into / "output.txt").write_text("another")
    assert repository.report().moved == ("runs/train",)


def test_verify_renews_the_seal(ported):
    ported.verify(("static",), ())
    ported.evidence()

    ported.verify(("static", "workload"), ())

    assert ported.report().moved == ()
    assert {entry.level for entry in ported.documents.read(Evidence).verdicts} == {"static", "workload"}


def test_a_plan_that_is_applied_to_a_copy_can_be_reported(example, knowledge, tmp_path):
    repository = Repository(example("pins-only"), knowledge)
    plan = repository.plan(knowledge.gpu("gfx942"))
    with repository.copy_into(tmp_path / "copy") as copy:
        copy.documents.write(plan)
        copy.apply(plan)
        copy.verify(("static",), ())

    assert copy.report().scan == repository.documents.find(Scan)


def test_a_damaged_inventory_does_not_stop_a_copy(example, knowledge, tmp_path):
    repository = Repository(example("pins-only"), knowledge)
    (repository.documents.folder / "inventory.json").write_text("{")

    with repository.copy_into(tmp_path / "copy") as copy:
        assert copy.documents.folder.is_dir()
