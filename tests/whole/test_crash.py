"""An apply killed between any two steps leaves the old tree, or one that undo restores.

A child process applies and is killed with SIGKILL just before its n-th change to the file system; see
tests/support/kill_points.py. `make attack` does the same to whole commands, at scale.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from kill_points import run_until_killed

from rocm3d.model.patch import Patch
from rocm3d.model.review import ReviewAnswers
from rocm3d.pipeline import ApplyOptions, Repository, open_review
from rocm3d.workspace.journal import UndoJournal

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "splat-trainer"


def snapshot(root):
    """Mode and bytes of every file, without our own state."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and ".rocm3d" not in path.parts)
    return {str(path.relative_to(root)): (path.stat().st_mode, path.read_bytes()) for path in files}


@pytest.fixture(scope="module")
def plan_and_files(knowledge, tmp_path_factory):
    """An example as it is, the plan for it, and what its port writes."""
    root = tmp_path_factory.mktemp("first") / "tree"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns(".rocm3d"))
    before = snapshot(root)
    repository = Repository(root, knowledge)
    plan = repository.plan(knowledge.gpu("gfx942"))
    repository.apply(plan, ApplyOptions())
    after = snapshot(root)
    return plan, before, {name: data for name, (_, data) in after.items() if after[name] != before.get(name)}


@pytest.fixture
def fresh(plan_and_files, knowledge, tmp_path):
    """A new copy of the example for every call."""
    _, before, _ = plan_and_files
    count = iter(range(1000))

    def make() -> Repository:
        root = tmp_path / str(next(count)) / "tree"
        for name, (mode, data) in before.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
            (root / name).chmod(mode & 0o777)
        return Repository(root, knowledge)

    return make


def undo_after_crash(root, knowledge):
    """Undo, as a user would after a crash."""
    if (root / ".rocm3d" / "undo" / "journal.json").exists():
        Repository(root, knowledge).undo(keep_changed=False)


def test_tree_is_restored_after_a_kill_before_any_write(fresh, plan_and_files, knowledge):
    """The writing part of an apply, killed before each single change."""
    _, before, files = plan_and_files
    total = run_until_killed((first := fresh()).root, lambda: first._write(files, UndoJournal.open(first.root)))
    between = 0
    for limit in range(total):
        attempt = fresh()
        assert (
            run_until_killed(
                attempt.root, lambda attempt=attempt: attempt._write(files, UndoJournal.open(attempt.root)), limit
            )
            is None
        )

        between += snapshot(attempt.root) not in (before, snapshot(first.root))
        undo_after_crash(attempt.root, knowledge)
        assert snapshot(attempt.root) == before, f"killed before change {limit} of {total}"
        assert not (attempt.root / "rocm-port").exists() or not any((attempt.root / "rocm-port").iterdir())
    assert total > 50
    assert between >= len(files) - 1  # everything else is prepared before the first file changes


def test_killed_apply_is_undone_or_repeated(fresh, plan_and_files, knowledge):
    plan, before, _ = plan_and_files

    def apply(attempt):
        return attempt.apply(plan, ApplyOptions())

    total = run_until_killed((first := fresh()).root, lambda: apply(first))
    between = 0
    for limit in (*range(total // 7, total, 9), total - 2):
        attempt = fresh()
        assert run_until_killed(attempt.root, lambda attempt=attempt: apply(attempt), limit) is None
        between += snapshot(attempt.root) not in (before, snapshot(first.root))

        apply(Repository(attempt.root, knowledge))
        assert snapshot(attempt.root) == snapshot(first.root), f"killed before change {limit} of {total}"
        undo_after_crash(attempt.root, knowledge)
        assert snapshot(attempt.root) == before
    assert between >= 1


def test_apply_after_a_killed_undo_knows_its_own_folder(fresh, plan_and_files, knowledge):
    plan, before, files = plan_and_files

    def ported():
        attempt = fresh()
        attempt._write(files, UndoJournal.open(attempt.root))
        return attempt

    total = run_until_killed((first := ported()).root, lambda: first.undo(keep_changed=False))
    without_manifest = 0
    for limit in range(0, total, 3):
        attempt = ported()
        assert run_until_killed(attempt.root, lambda attempt=attempt: attempt.undo(keep_changed=False), limit) is None
        folder = attempt.root / "rocm-port"
        without_manifest += folder.is_dir() and not (folder / "port.json").exists()
        Repository(attempt.root, knowledge).apply(plan, ApplyOptions())
        undo_after_crash(attempt.root, knowledge)

        assert snapshot(attempt.root) == before, f"killed before change {limit} of {total}"
    assert without_manifest


def test_second_undo_completes_a_killed_one(fresh, plan_and_files, knowledge):
    _, before, files = plan_and_files

    def ported():
        attempt = fresh()
        attempt._write(files, UndoJournal.open(attempt.root))
        return attempt

    total = run_until_killed((first := ported()).root, lambda: first.undo(keep_changed=False))
    for limit in range(total):
        attempt = ported()
        assert run_until_killed(attempt.root, lambda attempt=attempt: attempt.undo(keep_changed=False), limit) is None
        undo_after_crash(attempt.root, knowledge)

        assert snapshot(attempt.root) == before, f"killed before change {limit} of {total}"
        assert not (attempt.root / "rocm-port").exists()


def leave_out_an_edit(repository):
    """The answer no to one edit of a review."""
    review = open_review(repository)
    review.leave_out(next(unit for unit in review.open_units() if unit.recipes == ("lane-mask-by-backend",)))


def test_a_killed_review_is_completed_and_undone(plan_and_files, knowledge, fresh, tmp_path):
    """By the next review or by the next apply."""
    plan, before, _ = plan_and_files
    (origin := fresh()).apply(plan)
    origin.documents.write(plan)
    count = iter(range(1000))

    def ported():
        return Repository(shutil.copytree(origin.root, tmp_path / f"ported-{next(count)}" / "tree"), knowledge)

    total = run_until_killed((first := ported()).root, lambda: leave_out_an_edit(first))
    unanswered, reviewed, states = snapshot(origin.root), snapshot(first.root), set()
    for limit in (*range(0, total, 7), total - 2):
        attempt = ported()
        assert run_until_killed(attempt.root, lambda attempt=attempt: leave_out_an_edit(attempt), limit) is None
        attempt = Repository(attempt.root, knowledge)
        is_answered = attempt.documents.find_own(ReviewAnswers) is not None
        states.add((is_answered, snapshot(attempt.root) == unanswered, snapshot(attempt.root) == reviewed))

        if limit % 3 == 1:
            open_review(attempt).complete()
        elif limit % 3 == 2:
            attempt.apply(plan)
        if limit % 3:
            assert snapshot(attempt.root) == (reviewed if is_answered else unanswered), f"{limit} of {total}"
            present = {recipe for change in attempt.documents.read(Patch).edited for recipe in change.recipes}
            assert ("lane-mask-by-backend" in present) is not is_answered
        undo_after_crash(attempt.root, knowledge)
        assert snapshot(attempt.root) == before, f"killed before change {limit} of {total}"
    assert {(False, True, False), (True, True, False), (True, False, True)} <= states
