from __future__ import annotations

from datetime import datetime, timezone

from rocm3d.model.bundle import AlteredFile, Bundle, BundleReport
from rocm3d.model.inventory import Matrix, MatrixColumn, MatrixRow, UnlockStep
from rocm3d.model.run import ExpectationResult, Manifest, RunRecord
from rocm3d.render.console import render, summary


def test_a_run_shows_what_was_expected_and_what_came():
    run = RunRecord(
        name="a", command=("a",), started=datetime(2026, 11, 15, tzinfo=timezone.utc), seconds=1.0, limit=2.0,
        status="failed", exit_code=1, reason="exit code 1: \x1b[2Jno", manifest=Manifest(machine="m"),
        expectations=(ExpectationResult(expectation="points > 1", met=False, found="not measured in this run"),),
    )  # fmt: skip

    assert "not met    points > 1: not measured in this run" in render(run)
    assert "\x1b" not in summary(run)


def test_a_map_shows_the_order_of_work():
    document = Matrix(
        columns=(MatrixColumn(repository="a", readiness="ready"),),
        rows=(MatrixRow(package="gsplat", family="gaussian", states={"a": "work"}),),
        order=(UnlockStep(package="gsplat", frees=("a",), waiting=1),),
        free=(),
    )

    assert "order of work: gsplat" in render(document)
    assert summary(document) == "1 repository, 0 not blocked by a package; 1 package in use\n"


def test_a_bundle_shows_its_runs_and_whether_it_was_changed(make):
    held = Bundle(runs=(make.hostile_run("\x1b[2J"),), chains=())
    document = BundleReport(
        name="b", sha256="a" * 64, bundle=held, altered=(AlteredFile(path="run.json", how="changed"),)
    )

    assert "\x1b" not in render(document)
    assert "ran on" in render(document)
    assert summary(document) == "run.json: changed since it was sealed\nb: 1 run, 0 files\n"
