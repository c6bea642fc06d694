from __future__ import annotations

import os
import pty
import shutil
import sys

import pytest

PROGRAM = "from rocm3d.cli.main import main; main()"
PROMPT = b"quit: "


@pytest.fixture
def answered():
    """Runs `rocm3d review` on a terminal, typing each answer when it asks; returns exit code and output."""

    def run(*arguments: object, answers: tuple[str, ...]) -> tuple[int, str]:
        child, terminal = pty.fork()
        if child == 0:
            os.environ["NO_COLOR"] = "1"
            os.execv(sys.executable, [sys.executable, "-c", PROGRAM, "review", *map(str, arguments)])
        output, pending = b"", list(answers)
        while True:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # the other end was closed
                break
            output += data
            if output.endswith(PROMPT):
                os.write(terminal, f"{pending.pop(0)}\n".encode() if pending else b"\x04")
        os.close(terminal)
        _, status = os.waitpid(child, 0)
        assert not pending
        return os.waitstatus_to_exitcode(status), output.decode().replace("\r\n", "\n")

    return run


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    return tmp_path_factory.mktemp("review")


@pytest.fixture
def ported(rocm3d, example, origin, tmp_path):
    """A ported copy of an example, which has a report."""
    stored = origin / "tree"
    if not stored.exists():
        shutil.copytree(example("splat-trainer"), stored)
        ended = rocm3d("port", stored, "--gpu", "mi300x")
        assert ended.code in (0, 1), ended.err
        shutil.rmtree(tmp_path / "splat-trainer")
    shutil.copytree(stored, tmp_path / "tree")
    return tmp_path / "tree"


# Without a terminal.


def test_a_tree_that_was_not_ported_is_refused(rocm3d, example):
    ended = rocm3d("review", example("deform-op"))

    assert ended.code == 2
    assert "has no port that can be reviewed" in ended.err
    assert "hint: run `rocm3d port PATH` first" in ended.err


def test_without_a_terminal_the_open_edits_are_listed(rocm3d, ported, snapshot):
    before = snapshot(ported)
    ended = rocm3d("review", ported)

    assert ended.code == 1
    assert len(ended.out.splitlines()) == 5
    assert "lane-mask-by-backend: Check that the lanes" in ended.out
    assert ended.err == f"open: 5. Review them on a terminal: rocm3d review {ported}\n"
    assert snapshot(ported) == before


def test_without_an_edit_to_read_it_is_done(rocm3d, example):
    root = example("splat-trainer")
    rocm3d("apply", root, "--gpu", "mi300x", "--safe-only")

    ended = rocm3d("review", root)

    assert (ended.code, ended.out, ended.err) == (0, "", "")


# On a terminal.


def test_each_edit_is_shown_and_answered(rocm3d, ported, answered):
    code, output = answered(ported, answers=("what", "yes", "explain", "no", "quit"))

    assert code == 1
    assert "Edit 1 of 5: csrc/forward.cu, ballot-64-bit\nreason: Keep a ballot in 64 bits" in output
    assert "\ncheck: Check that the votes are counted" in output
    assert "\nproof: same tokens with USE_ROCM" in output
    assert "\n+    unsigned ballot = ROCM3D_BALLOT(0xffffffff, pred);\n" in output
    assert "CU101 lane_mask_32bit (error, active" in output
    assert output.endswith("1 edit kept, 1 left out, 3 open\n")
    assert "__shfl_down(v" not in (ported / "csrc" / "forward.cu").read_text()
    assert "Edits that were left out" in (ported / ".rocm3d" / "report.html").read_text()
    assert len(rocm3d("review", ported).out.splitlines()) == 3


def test_it_resumes_and_ends_with_0_when_nothing_is_open(rocm3d, ported, answered):
    first, _ = answered(ported, answers=("y", "q"))
    second, output = answered(ported, answers=("y", "Y", "yes", "y"))
    third, again = answered(ported, answers=())

    assert (first, second, third) == (1, 0, 0)
    assert "Edit 1 of 4" in output
    assert again.endswith("0 edits kept, 0 left out, 0 open\n")
    assert rocm3d("review", ported).code == 0


def test_the_end_of_the_input_is_quit(ported, answered):
    code, output = answered(ported, answers=())

    assert code == 1
    assert output.endswith("0 edits kept, 0 left out, 5 open\n")


def test_with_again_edits_that_were_left_out_are_shown(ported, answered, snapshot):
    before = snapshot(ported)
    answered(ported, answers=("no", "quit"))
    _, output = answered(ported, "--again", answers=("yes", "yes", "yes", "yes", "yes"))

    assert "Edit 5 of 5: csrc/forward.cu, ballot-64-bit (left out)" in output
    assert "Make this edit? yes, no, explain, quit: " in output
    assert snapshot(ported) == before


def test_a_later_port_leaves_the_edit_out_and_undo_restores(rocm3d, ported, example, answered, snapshot):
    answered(ported, answers=("no", "quit"))
    reviewed = snapshot(ported)

    ended = rocm3d("port", ported, "--gpu", "mi300x")

    assert "not made: 1 edit, you left it out in rocm3d review (csrc/forward.cu)" in ended.err
    assert snapshot(ported) == reviewed
    rocm3d("undo", ported)
    assert snapshot(ported) == snapshot(example("splat-trainer"))


def test_control_characters_of_the_repository_are_not_shown(rocm3d, tmp_path, answered):
    root = tmp_path / "tree"
    root.mkdir()
    (root / "k.cu").write_bytes(
        b"__global__ void k(float v) { v += __shfl_down_sync(0xffffffff, v, 16); /* \x1b[2J */ }\n"
    )
    rocm3d("apply", root, "--gpu", "mi300x")

    _, output = answered(root, answers=("quit",))

    assert "__shfl_down_sync(0xffffffff" in output
    assert "\x1b[2J" not in output
