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
