"""A missed deadline fails the test and names the event; an event that occurred is never missed."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
import waiting
from processes import Program, is_running
from waiting import (
    begin_limits_at,
    next_line,
    output_of,
    wait_for_exit,
    wait_for_file,
    wait_for_line,
    wait_for_thread,
    wait_until,
    wait_until_gone,
)

from rocm3d.workspace.process import run

SOON = 0.05


def test_a_condition_that_never_holds_is_named():
    with pytest.raises(pytest.fail.Exception, match=r"waited 0\.05 s for a full moon"):
        wait_until(lambda: False, "a full moon", SOON)


def test_the_first_true_value_is_returned():
    values = iter(["", "", "here"])

    assert wait_until(lambda: next(values), "a value") == "here"


def test_a_file_that_never_has_text_is_named(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(pytest.fail.Exception, match=rf"waited 0\.05 s for text in {tmp_path}/a"):
        wait_for_file(tmp_path / "a", SOON)
    (tmp_path / "a").write_text("x")
    assert wait_for_file(tmp_path / "a") == "x"


@pytest.mark.parametrize(
    ("wait", "event"),
    [
        (next_line, r"a line of \['sh', "),
        (wait_for_line, r"a line of \['sh', "),
        (wait_for_exit, r"the end of \['sh', "),
        (output_of, r"the end of the output of \['sh', "),
    ],
)
def test_a_silent_program_is_named_and_ended_with_its_children(wait, event, tmp_path):
    """The child holds the pipes of its parent open."""
    script = f"sleep 3600 & echo $! > {tmp_path}/pid; wait"
    with Program(["sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        child = int(wait_for_file(tmp_path / "pid"))
        with pytest.raises(pytest.fail.Exception, match=rf"waited 0\.05 s for {event}"):
            wait(process, deadline=SOON)

        assert not is_running(process.pid)
        assert not is_running(child)


def test_a_line_that_never_came_is_named():
    with (
        Program(["echo", "other"], stdout=subprocess.PIPE, text=True) as process,
        pytest.raises(pytest.fail.Exception, match="ended its output before a line with 'ready'"),
    ):
        wait_for_line(process, "ready")


def test_lines_come_one_by_one_and_the_end_is_empty():
    with Program(["printf", "a\\nb\\nc\\n"], stdout=subprocess.PIPE, text=True) as process:
        assert next_line(process) == "a\n"
        assert wait_for_line(process, "c") == "c\n"
        assert next_line(process) == ""
        assert wait_for_exit(process) == 0


def test_process_or_thread_that_does_not_end_is_named():
    go = threading.Event()
    thread = threading.Thread(target=go.wait, name="endless", daemon=True)
    thread.start()
    with Program(["sleep", "3600"]) as process:
        with pytest.raises(pytest.fail.Exception, match=rf"for the end of the processes {process.pid}"):
            wait_until_gone(process.pid, deadline=SOON)
        with pytest.raises(pytest.fail.Exception, match="for the end of the thread endless"):
            wait_for_thread(thread, SOON)
    wait_until_gone(process.pid)
    go.set()
    wait_for_thread(thread)


def test_time_limit_starts_when_the_file_exists(tmp_path, monkeypatch):
    begin_limits_at(tmp_path / "begun", monkeypatch)
    script = f"sleep 0.3; echo late; echo x > {tmp_path}/begun; exec sleep 3600"

    finished = run(["sh", "-c", script], seconds=0.01)

    assert (finished.timed_out, finished.stdout) == (True, b"late\n")


def test_the_deadline_can_be_set_from_outside():
    code = "import waiting; print(waiting.DEADLINE)"
    folder = waiting.__file__.rpartition("/")[0]
    for value, deadline in (("", "600.0\n"), ("2.5", "2.5\n")):
        environment = {"PYTHONPATH": folder, "ROCM3D_TEST_DEADLINE": value}
        printed = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        assert printed.stdout == deadline
