"""apply, preview and undo as tools."""

from __future__ import annotations

import json

import pytest

from rocm3d.model.errors import UserError


@pytest.fixture
def target(example):
    return example("splat-trainer")


def planned(work, target):
    return work("plan", path=str(target), gpu="mi300x").plan_hash


def test_uncommitted_work_is_not_changed(work, target, git):
    git(target, "init", "-q")
    git(target, "add", "-A")
    with pytest.raises(UserError, match="has uncommitted changes"):
        work("apply", path=str(target), plan_hash=planned(work, target))


def test_unknown_selection_is_refused(work, target):
    with pytest.raises(UserError, match="'nothing' is not a rule"):
        work("apply", path=str(target), plan_hash=planned(work, target), only=["nothing"])


def test_preview_writes_nothing_and_is_the_dry_run_of_the_command_line(work, rocm3d, target, snapshot):
    before = snapshot(target)
    answer = work("preview", path=str(target), plan_hash=planned(work, target), safe_only=True)
    ended = rocm3d("apply", target, "--dry-run", "--safe-only", "--format", "json", "-q")

    assert answer.document == json.loads(ended.out)
    assert answer.document["dry_run"]
    assert snapshot(target) == before


def test_apply_equals_the_command_line_and_undo_restores(work, rocm3d, target, snapshot, tmp_path):
    before = snapshot(target)
    answer = work("apply", path=str(target), plan_hash=planned(work, target))
    ported = snapshot(target)
    ended = rocm3d("apply", target, "--format", "json", "-q")

    assert answer.document == json.loads(ended.out)
    assert (answer.exit_code, ended.code) == (0, 0)
    assert snapshot(target) == ported != before
    undone = work("undo", path=str(target))
    assert snapshot(target) == before
    assert len(undone.document["restored"]) == len(answer.document["changes"])


def test_a_copy_is_ported_and_the_original_stays(work, target, snapshot, tmp_path):
    before = snapshot(target)
    answer = work("apply", path=str(target), plan_hash=planned(work, target), into=str(tmp_path / "copy"))

    assert snapshot(target) == before
    assert (tmp_path / "copy" / "rocm-port").is_dir()
    assert answer.kept_in == str(tmp_path / "copy" / ".rocm3d" / "patch.json")


def test_without_git_yes_is_needed(work, target, snapshot):
    plan_hash = planned(work, target)
    before = snapshot(target)
    with pytest.raises(UserError, match="is not in a git repository"):
        work("apply", path=str(target), plan_hash=plan_hash, yes=False)
    assert before == snapshot(target)


def test_a_copy_changes_nothing_in_the_repository_and_a_stale_plan_is_refused(work, target, tmp_path):
    plan_hash = planned(work, target)
    before = {path: path.stat().st_mtime_ns for path in (target, *target.rglob("*"))}
    work("apply", path=str(target), plan_hash=plan_hash, into=str(tmp_path / "copy"))
    assert before == {path: path.stat().st_mtime_ns for path in (target, *target.rglob("*"))}

    (target / "requirements.txt").write_text("flash-attn\n")
    with pytest.raises(UserError, match="has changed since this plan was made"):
        work("apply", path=str(target), plan_hash=plan_hash, into=str(tmp_path / "second"))
    assert not (tmp_path / "second").exists()
