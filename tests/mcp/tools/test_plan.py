"""plan as a tool."""

from __future__ import annotations

import json

import pytest

from rocm3d.model.errors import UserError


def test_unknown_gpu_is_refused(work, example):
    with pytest.raises(UserError, match="h100x"):
        work("plan", path=str(example("splat-trainer")), gpu="h100x")


def test_the_document_is_that_of_the_command_line(work, rocm3d, example):
    target = example("splat-trainer")
    answer = work("plan", path=str(target), gpu="mi300x", prefer="newest")
    ended = rocm3d("plan", target, "--gpu", "mi300x", "--prefer", "newest", "--format", "json", "-q")

    assert answer.document == json.loads(ended.out)
    assert (answer.exit_code, ended.code) == (0, 0)
    assert answer.plan_hash in answer.summary


def test_gpu_of_the_settings_is_used(work, example):
    target = example("splat-trainer")
    (target / "rocm3d.toml").write_text('gpu = "gfx1100"\n')

    assert work("plan", path=str(target)).document["gpu"]["gfx"] == "gfx1100"


def test_isolated_plan_is_reviewed_and_applied_as_it_was_made(work, example):
    target = example("splat-trainer")
    (target / "rocm3d.toml").write_text('skip = ["CU", "BLD", "DEP", "PY"]\ngpu = "gfx1100"\n')
    hidden = work("plan", path=str(target))
    isolated = work("plan", path=str(target), gpu="mi300x", isolated=True)

    assert " The GPU is set in rocm3d.toml." in hidden.summary
    assert "Findings that the repository hides: " in hidden.summary
    assert "settings" not in isolated.summary
    assert not hidden.document["edits"]
    assert isolated.document["edits"]
    preview = work("preview", path=str(target), plan_hash=isolated.plan_hash)
    assert any(change["kind"] == "edited" for change in preview.document["changes"])
