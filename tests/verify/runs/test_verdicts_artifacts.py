from __future__ import annotations

from rocm3d.model.artifact import Artifact
from rocm3d.verify.runs.verdicts import artifact_verdicts


def test_a_run_without_artifacts_is_not_run(make_run):
    assert list(artifact_verdicts(make_run(artifacts=()))) == [("not_run", "the run wrote no artifacts", ())]


def test_each_artifact_has_its_outcome(make_run):
    artifact_list = (
        Artifact(path="black.mp4", kind="video", outcome="bad", problems=("every frame is black", "still")),
        Artifact(path="a.exr", kind="image", outcome="not_read", problems=("nobody reads it",)),
        Artifact(path="a.ply", kind="splat", outcome="ok", metrics={"gaussians": 5}),
    )

    assert list(artifact_verdicts(make_run(artifacts=artifact_list))) == [
        ("failed", "black.mp4: every frame is black; still", ()),
        ("not_run", "cannot read a.exr: nobody reads it", ()),
        ("passed", "", ("a.ply: gaussians 5",)),
    ]
