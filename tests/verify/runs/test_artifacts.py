from __future__ import annotations

from rocm3d.model.artifact import Artifact
from rocm3d.verify.runs.artifacts import artifacts


def test_a_run_that_made_nothing_shows_nothing(make_run):
    assert list(artifacts(make_run(artifacts=()))) == [("not_run", "the run wrote no artifacts", ())]


def test_each_is_called_what_it_is(make_run):
    made = (
        Artifact(path="black.mp4", kind="video", outcome="bad", problems=("every frame is black", "still")),
        Artifact(path="a.exr", kind="image", outcome="not_read", problems=("nobody reads it",)),
        Artifact(path="a.ply", kind="splat", outcome="ok", metrics={"gaussians": 5}),
    )

    assert list(artifacts(make_run(artifacts=made))) == [
        ("failed", "black.mp4: every frame is black; still", ()),
        ("not_run", "cannot read a.exr: nobody reads it", ()),
        ("passed", "", ("a.ply: gaussians 5",)),
    ]
