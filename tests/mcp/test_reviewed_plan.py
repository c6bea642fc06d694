"""Only the plan that the caller reviewed is applied."""

from __future__ import annotations

import hashlib

import pytest

from rocm3d.model.errors import UserError

OTHER = "0" * 64


@pytest.fixture
def target(example):
    return example("splat-trainer")


@pytest.mark.parametrize("tool", ["preview", "apply"])
def test_without_a_plan_nothing_is_done(work, target, snapshot, tool):
    before = snapshot(target)
    with pytest.raises(UserError, match="has no plan"):
        work(tool, path=str(target), plan_hash=OTHER)

    assert snapshot(target) == before


def test_a_hash_of_another_plan_is_refused(work, target, snapshot):
    before = snapshot(target)
    first = work("plan", path=str(target), gpu="mi300x").plan_hash
    second = work("plan", path=str(target), gpu="gfx1100").plan_hash

    assert first != second
    for stale in (first, OTHER):
        with pytest.raises(UserError, match="has another plan_hash") as refused:
            work("apply", path=str(target), plan_hash=stale)
    assert "call `plan` again" in refused.value.hint
    assert snapshot(target) == before


def test_a_repository_that_has_changed_since_is_refused(work, target, snapshot):
    plan_hash = work("plan", path=str(target), gpu="mi300x").plan_hash
    (target / "requirements.txt").write_text("cupy-cuda12x\n")
    before = snapshot(target)
    with pytest.raises(UserError, match="the repository has changed since this plan"):
        work("apply", path=str(target), plan_hash=plan_hash)

    assert snapshot(target) == before


@pytest.mark.parametrize("planted", [b"", b"{}", b'{"gpu": 1}', b"\xff"])
def test_forged_plan_arguments_are_refused(work, target, planted):
    plan_hash = work("plan", path=str(target), gpu="mi300x").plan_hash
    (target / ".rocm3d" / "plan-asked.json").write_bytes(planted)

    with pytest.raises(UserError, match="was not written by you"):
        work("preview", path=str(target), plan_hash=plan_hash)


def test_a_plan_whose_licences_the_repository_refuses_is_refused(work, target):
    (target / "requirements.txt").write_text("nvdiffrast\n")
    (target / "rocm3d.toml").write_text('licence-policy = "refuse"\n')
    planned = work("plan", path=str(target), gpu="mi300x")

    assert planned.exit_code == 1
    assert "licence policy refuses" in planned.summary
    with pytest.raises(UserError, match="refused by the licence policy"):
        work("apply", path=str(target), plan_hash=planned.plan_hash)


def test_hash_is_that_of_the_file_and_a_plan_of_the_command_line_is_accepted(work, target, rocm3d):
    assert rocm3d("plan", target, "--gpu", "mi300x", "-q").code == 0
    digest = hashlib.sha256((target / ".rocm3d" / "plan.json").read_bytes()).hexdigest()

    assert "Nothing was written" in work("preview", path=str(target), plan_hash=digest).summary
    assert work("plan", path=str(target), gpu="mi300x").plan_hash == digest


def test_second_apply_changes_nothing(work, target, snapshot):
    plan_hash = work("plan", path=str(target), gpu="mi300x").plan_hash
    work("apply", path=str(target), plan_hash=plan_hash)
    once = snapshot(target)
    work("apply", path=str(target), plan_hash=plan_hash)

    assert snapshot(target) == once
