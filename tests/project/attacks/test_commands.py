"""What counts as a wrong end of a command, and commands that are killed."""

from __future__ import annotations

import pytest
from attacks.cases import GPU, BrokenPromiseError, Case, copy_example
from attacks.commands import Ended, load_program


def ended(code, err="", out=""):
    return Ended(("apply",), code, out, err, 1.0)


@pytest.mark.parametrize(
    ("code", "err"),
    [
        (None, ""),
        (3, "rocm3d: this is a bug in rocm3d\n"),
        (1, "Traceback (most recent call last):\n"),
        (4, "rocm3d: no GPU\n"),
        (-11, ""),
        (2, ""),
        (2, "rocm3d: one\nrocm3d: two\n"),
    ],
)
def test_wrong_end_is_a_problem(code, err):
    assert ended(code, err).problem()


@pytest.mark.parametrize(("code", "err"), [(0, ""), (1, "found\n"), (2, "note\nrocm3d: one\n  hint: two\n")])
def test_documented_end_is_no_problem(code, err):
    assert not ended(code, err).problem()


@pytest.fixture
def case(tmp_path):
    load_program()
    return Case(0, tmp_path / "case", "test")


def test_time_out_ends_the_command(case):
    copy_example("deform-op", case.tree)

    assert case.commands.run("port", case.tree, *GPU, seconds=0).code is None


def test_command_is_killed_before_a_change_and_the_rest_is_undone(case):
    copy_example("deform-op", case.tree, git=False)
    changes = case.run("apply", case.tree, *GPU, watched=(case.tree,)).changes
    case.run("undo", case.tree)

    killed = case.run("apply", case.tree, *GPU, watched=(case.tree,), kill_before=changes - 2)

    assert (killed.is_killed, killed.changes) == (True, None)


def test_lost_originals_are_a_broken_promise(case):
    from attacks.snapshots import snapshot

    copy_example("splat-trainer", case.tree, git=False)
    before = snapshot(case.tree)
    case.run("apply", case.tree, *GPU)
    for path in (case.tree / ".rocm3d" / "undo").iterdir():
        path.unlink()

    with pytest.raises(BrokenPromiseError):
        case.undo_to(before, "a test")
