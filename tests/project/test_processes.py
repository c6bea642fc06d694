"""Every process that a test starts is found and ended, even if it is detached."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from processes import (
    RUN,
    Program,
    begin_run,
    children,
    command_line,
    descendants,
    end_family,
    end_strays,
    is_running,
    kill,
    running_as,
    running_with,
)
from waiting import wait_for_file, wait_until_gone

# A grandchild in a session of its own that ignores SIGTERM; its parent ends, so that it is nobody's child.
ESCAPES = "(trap '' TERM; setsid sh -c 'echo $$ > {pid}; while :; do sleep 3600; done' &)"


@pytest.fixture
def pid(tmp_path):
    path = tmp_path / "pid"
    yield path
    if path.exists():
        kill([int(path.read_text())])


@pytest.fixture
def own_run(monkeypatch):
    """A run that other tests know nothing of."""
    monkeypatch.setenv(RUN, "")
    begin_run()


def test_children_and_their_children_are_listed(pid):
    with Program(["sh", "-c", f"sh -c 'echo $$ > {pid}; sleep 3600; :' & wait"]) as process:
        grandchild = int(wait_for_file(pid))

        assert process.pid in children(os.getpid())
        assert grandchild in descendants(os.getpid())
        assert grandchild in descendants(process.pid)
        assert grandchild not in descendants(os.getpid(), without=[process.pid])


def test_processes_are_found_by_environment_and_by_command(tmp_path):
    name = str(tmp_path)
    with Program(
        ["sh", "-c", "echo; read line", name], env={**os.environ, "PLACE": name}, stdin=subprocess.PIPE
    ) as process:
        assert running_with(f"PLACE={name}") == [process.pid]
        assert running_as(name) == [process.pid]
        assert command_line(process.pid) == f"sh -c echo; read line {name}"
    assert running_with(f"PLACE={name}") == running_as(name) == []
    assert command_line(process.pid) == ""


def test_zombie_is_not_running():
    process = subprocess.Popen(["true"])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert not is_running(process.pid)
    process.wait()


@pytest.mark.parametrize("end", ["", "; exit 0", "; sleep 3600"], ids=["ended", "exited", "running"])
def test_a_program_ends_with_all_that_it_started(pid, end):
    with Program(["sh", "-c", ESCAPES.format(pid=pid) + end], stdout=subprocess.PIPE) as process:
        escaped = int(wait_for_file(pid))
        assert is_running(escaped)

    assert not is_running(escaped)
    assert process.returncode is not None
    assert process.stdout.closed


def test_process_whose_child_holds_its_pipes_ends_at_once(pid):
    process = subprocess.Popen(["sh", "-c", f"sleep 3600 & echo $! > {pid}; wait"], stdout=subprocess.PIPE)
    child = int(wait_for_file(pid))
    end_family(process)

    assert not is_running(child)
    assert process.stdout.closed


@pytest.mark.usefixtures("own_run")
def test_stray_processes_are_ended_and_earlier_ones_survive(pid):
    with Program(["sh", "-c", "sleep 3600 & wait"]) as before:
        earlier = children(os.getpid())
        assert end_strays(earlier) == []
        stray = subprocess.Popen(["sh", "-c", f"setsid sh -c 'trap \"\" TERM; echo $$ > {pid}; sleep 3600; :' & wait"])
        escaped = int(wait_for_file(pid))

        named = end_strays(earlier)

        assert any("setsid" in line for line in named)
        stray.wait()  # by the signal, or because the process it waited for was ended first
        assert not is_running(escaped)
        assert not is_running(stray.pid)
        assert before.poll() is None
        assert end_strays(earlier) == []


@pytest.mark.usefixtures("own_run")
def test_orphans_are_found_by_a_thorough_search(pid):
    subprocess.run(["sh", "-c", ESCAPES.format(pid=pid)], check=True)
    escaped = int(wait_for_file(pid))

    assert end_strays(children(os.getpid())) == []
    assert is_running(escaped)
    assert len(end_strays(children(os.getpid()), thorough=True)) >= 1
    wait_until_gone(escaped)


@pytest.mark.usefixtures("own_run")
def test_helpers_of_the_interpreter_are_no_strays():
    code = "import time; 'multiprocessing.resource_tracker'; time.sleep(3600)"
    with Program([sys.executable, "-I", "-S", "-c", code]) as helper:
        others = [pid for pid in children(os.getpid()) if pid != helper.pid]
        assert end_strays(others) == []
        assert helper.poll() is None
