from __future__ import annotations

import pytest

from rocm3d.evidence.chain import LINK_NAMES, evidence_chain
from rocm3d.model.artifact import Artifact
from rocm3d.model.evidence import MissingLink
from rocm3d.model.run import ExpectationResult, ImportFallback, LoadedModule

BAD = Artifact(path="b.mp4", kind="video", outcome="bad", problems=("black: all 9 frames are black",))


def link(run, name):
    return next(entry for entry in evidence_chain(run).links if entry.link == name)


def test_without_a_run_every_link_is_missing():
    result = evidence_chain(None)

    assert [entry.link for entry in result.missing] == list(LINK_NAMES)
    assert {entry.what for entry in result.missing} == {"no run was recorded"}


def test_a_run_without_a_commit_has_no_manifest(make_run):
    run = make_run()
    held = run.manifest.model_copy(update={"commit": "", "packages": ()})

    result = link(make_run(manifest=held), "manifest")

    assert (result.there, result.what) == (False, "the commit and its packages could not be read")


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"status": "timed_out", "reason": "stopped at the 9 s limit"}, "timed_out: stopped at the 9 s limit"),
        ({"status": "killed"}, "killed: reason unknown"),
        (
            {"expectations": (ExpectationResult(expectation="faces > 9", met=False, found="3"),)},
            "finished, but unmet: faces > 9",
        ),
    ],
)
def test_a_workload_that_did_not_do_it(make_run, values, what):
    result = link(make_run(**values), "workload")

    assert (result.there, result.what) == (False, what)


def test_no_backend_was_recorded(make_run):
    why = (MissingLink(link="kernels", reason="torch did not use a GPU"),)
    bare = make_run(backends={}, kernels=(), missing=why)

    assert link(bare, "backend").what == link(bare, "profile").what == "torch did not use a GPU"
    assert link(make_run(kernels=()), "profile").what == "no kernels recorded"


def test_stand_ins_and_fallbacks_are_named_with_the_backend(make_run):
    module = LoadedModule(name="spconv", file="x.py", stands_in="rocm3d-kernels")
    fallback = ImportFallback(module="flash_attn", reason="not found", where="a.py:3")

    result = link(make_run(modules=(module,), fallbacks=(fallback,)), "backend")

    assert result.what == "attention: CK (spconv is a substitute; flash_attn was not found)"


def test_one_bad_artifact_breaks_the_link(make_run):
    run = make_run()

    result = link(make_run(artifacts=(*run.artifacts, BAD)), "artifact")

    assert (result.there, result.what) == (False, "1 of 2 are invalid: b.mp4: black: all 9 frames are black")


def test_nothing_came_out(make_run):
    assert link(make_run(artifacts=()), "artifact").what == "the run wrote no artifact"


def test_a_whole_chain(make_run):
    result = evidence_chain(make_run())

    assert result.missing == ()
    assert [entry.what for entry in result.links] == [
        "MI300X, gfx942, ROCm 7.2, torch 2.9.0, commit 0123456789ab",
        "finished in 12.5 s",
        "attention: CK",
        "out/a.ply: 50,000 gaussians",
        "1 kernel, busy for 0.0004 s of 2 s profiled",
    ]


def test_uncommitted_files_are_counted(make_run):
    held = make_run().manifest.model_copy(update={"dirty": ("a.py", "b.py")})

    assert link(make_run(manifest=held), "manifest").what.endswith("commit 0123456789ab with 2 uncommitted files")
