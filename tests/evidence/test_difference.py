from __future__ import annotations

import io

import numpy
import pytest

from rocm3d.evidence.comparison_side import ComparisonSide, read_side
from rocm3d.evidence.difference import compare_evidence
from rocm3d.model.artifact import Artifact
from rocm3d.model.run import ImportFallback, PeakMemory, Steps
from rocm3d.model.verdict import Verdict


def rows(document, section):
    return {row.name: (row.a, row.b, row.change) for row in document.rows if row.section == section}


@pytest.fixture
def compare(make_run):
    def run(**values):
        return compare_evidence(ComparisonSide("a", (make_run(),)), ComparisonSide("b", (make_run(**values),)))

    return run


def test_a_run_against_none_shows_what_is_missing(make_run):
    document = compare_evidence(ComparisonSide("a", (make_run(),)), ComparisonSide("b", ()))

    assert [pair.b.there for pair in document.links] == [False] * 5
    assert document.worse[1] == "workload: no run was recorded"
    assert rows(document, "time")["whole run"] == ("12.5 s", "", "")


def test_none_against_a_run_is_not_worse(make_run):
    assert compare_evidence(ComparisonSide("a", ()), ComparisonSide("b", (make_run(),))).worse == ()


def test_a_run_that_failed_is_worse(compare):
    document = compare(status="out_of_memory", reason="no room")

    assert document.worse == ("workload: out_of_memory: no room",)
    assert rows(document, "workload")["outcome"] == ("finished", "out_of_memory", "")


def test_a_bad_artifact_is_worse(compare):
    black = Artifact(path="out/a.ply", kind="splat", outcome="bad", problems=("empty: no Gaussians",))

    document = compare(artifacts=(black,))

    assert document.worse == ("artifact: 1 of 1 are invalid: out/a.ply: empty: no Gaussians",)
    assert rows(document, "artifact")["out/a.ply"] == ("splat", "empty: no Gaussians", "")
    assert rows(document, "artifact")["out/a.ply: gaussians"] == ("50,000", "", "")


def test_a_failed_check_is_worse_only_where_it_is_new(make_run):
    def failed(probe):
        return Verdict(level="numerics", probe=probe, outcome="failed", reason="is NaN")

    document = compare_evidence(
        ComparisonSide("a", (), (failed("old"),)), ComparisonSide("b", (), (failed("old"), failed("new")))
    )

    assert document.worse == ("numerics new: is NaN",)
    assert rows(document, "numerics")["check new"] == ("", "failed", "")


def test_slower_is_reported_and_not_worse(compare):
    document = compare(
        seconds=25.0,
        memory=PeakMemory(gpu_reserved=3 << 29, host=1 << 28),
        steps=(Steps(kind="optimizer", count=30, first_seconds=9.0, steady_seconds=0.05),),
    )

    assert document.worse == ()
    assert rows(document, "time")["whole run"] == ("12.5 s", "25 s", "x 2")
    assert rows(document, "time")["each optimizer after"] == ("0.1 s", "0.05 s", "x 0.5")
    assert rows(document, "memory")["GPU, reserved"] == ("1024 MiB", "1536 MiB", "+50.0%")
    assert rows(document, "memory")["host"] == ("256 MiB", "256 MiB", "")


def test_another_machine_and_backend(compare, make_run):
    held = make_run().manifest.model_copy(update={"gpu": "H200", "gfx": "", "rocm": "", "cuda": "13.0"})
    fallback = ImportFallback(module="flash_attn", reason="not found", where="a.py:3")

    document = compare(manifest=held, backends={"attention": ("FA3",)}, fallbacks=(fallback,))

    result = rows(document, "environment")
    assert (result["gpu"], result["cuda"], result["rocm"]) == (
        ("MI300X", "H200", ""),
        ("", "13.0", ""),
        ("7.2", "", ""),
    )
    assert "package numpy" not in result
    assert rows(document, "backend")["attention"] == ("CK", "FA3", "")
    assert rows(document, "backend")["fallback from flash_attn"] == ("", "a.py:3", "")


def test_a_run_against_itself(compare):
    document = compare()

    assert [row for row in document.rows if row.differs] == []
    assert document.worse == ()


def test_sections_stand_in_the_order_of_the_chain(compare):
    result = [row.section for row in compare().rows]

    assert list(dict.fromkeys(result)) == [
        "environment", "workload", "backend", "time", "memory", "artifact", "profile",
    ]  # fmt: skip


def test_numbers_of_files_in_both_bundles(make_bundle, make_run):
    def bundle(name, value):
        file = io.BytesIO()
        numpy.savez(file, s=[1.0, value])
        checked = Artifact(path="out/s.npz", kind="arrays", outcome="ok", metrics={"arrays": 1})
        return read_side(
            make_bundle(name, runs=(make_run(artifacts=(checked,)),), files={"files/out/s.npz": file.getvalue()})
        )

    document = compare_evidence(bundle("one", 2.0), bundle("two", 2.25))

    assert rows(document, "numerics") == {
        "out/s.npz:s": ("float64 [2]", "float64 [2]", "largest difference 0.25 (largest value 2)")
    }
