"""Ctrl-C at any moment: one line, exit code 130, no traceback, no process left, and nothing lost.

Real processes get SIGINT, with their whole group as from a terminal, just before some of their events: imports, files,
folders, programs. No clock is involved.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from interrupt_points import interrupting
from processes import Program, running_with
from waiting import output_of

KERNEL = b"#include <device_launch_parameters.h>\n__global__ void k() {}\n"
GPU = ("--gpu", "mi300x")
LINE = "rocm3d: interrupted"
MOMENTS = 6


@pytest.fixture
def start(tmp_path):
    """Runs rocm3d as a user does, in a group of its own; returns whether it was interrupted, exit code and stderr."""
    hook = tmp_path / "hook"
    hook.mkdir()
    sent = hook / "sent"

    def run(*words, before=(), count=None):
        sent.unlink(missing_ok=True)
        environment = {**os.environ, **interrupting(hook, before=before, count=count)}
        command = [sys.executable, "-m", "rocm3d", *words]
        pipe = subprocess.PIPE
        with Program(command, stdout=pipe, stderr=pipe, text=True, env=environment, start_new_session=True) as child:
            _, err = output_of(child)
            assert running_with(child.mark) == []
        return sent.exists(), child.returncode, err

    return run


@pytest.fixture
def moments(start, tmp_path):
    """Some of the moments of a command, from the first to the last event."""

    def choose(*words, reset=lambda: None):
        path = tmp_path / "count"
        for _ in range(2):  # the first one fills caches
            reset()
            _, code, err = start(*words, count=path)
            assert code in (0, 1, 2), err
        total = int(path.read_text())
        assert total > MOMENTS, "a command without events tests nothing"
        return sorted({1, 2, *(total * number // MOMENTS for number in range(1, MOMENTS)), total})

    return choose


@pytest.fixture
def source(tmp_path, git):
    root = tmp_path / "source"
    root.mkdir()
    (root / "a.py").write_text("import torch\n")
    (root / "b.cu").write_bytes(KERNEL)
    (root / "setup.py").write_text("from setuptools import setup\nsetup()\n")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    return root


def state(root):
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    return {path.relative_to(root): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def assert_interrupted(ended, moment):
    """Or it had fewer events than the run that counted them."""
    was_interrupted, code, err = ended
    if not was_interrupted:
        assert code in (0, 1), (moment, ended)
        return
    assert code == 130, (moment, ended)
    assert "Traceback" not in err, (moment, err)
    assert [line for line in err.splitlines() if "interrupt" in line.lower()] == [LINE], (moment, err)
    assert err.splitlines()[-1] == LINE


@pytest.mark.parametrize(
    "words", [("--help",), ("--version",), ("explain", "gsplat"), ("scan", "--help"), ()], ids=" ".join
)
def test_start_up_and_short_commands(start, moments, words):
    for moment in moments(*words):
        assert_interrupted(start(*words, before=(moment,)), moment)


@pytest.mark.parametrize("options", [("--format", "json", "--quiet"), ()], ids=["fast scan", "scan"])
@pytest.mark.parametrize("cached", [False, True])
def test_scan(start, moments, source, options, cached):
    words = ("scan", source, *options, *(() if cached else ("--no-cache",)))
    for moment in moments(*words):
        assert_interrupted(start(*words, before=(moment,)), moment)
        assert list((source / ".rocm3d").glob("new-*")) == []


def test_scan_in_a_pool_of_processes(start, moments, tmp_path):
    """The signal reaches the workers, too: they print nothing, and none is left."""
    root = tmp_path / "many"
    root.mkdir()
    for number in range(400):
        (root / f"k{number}.cu").write_bytes(KERNEL * 20)
    words = ("scan", root, "--no-cache", "--format", "json", "--quiet")
    chosen = moments(*words)
    for moment in (*chosen, chosen[-1] - 1, chosen[-1] - 3):
        assert_interrupted(start(*words, before=(moment,)), moment)


@pytest.mark.parametrize("again", [0, 1], ids=["once", "twice"])
def test_port_into_a_copy(start, moments, source, tmp_path, again):
    """The source is as it was; the copy is removed, or it is ported and a second port completes it."""
    copy, before = tmp_path / "parent" / "copy", state(source)
    words = ("port", source, *GPU, "--into", copy)
    chosen = moments(*words, reset=lambda: shutil.rmtree(copy.parent, ignore_errors=True))
    complete = {path: data for path, (_, data) in state(copy).items() if ".rocm3d" not in path.parts}
    outcomes = set()
    for moment in chosen:
        shutil.rmtree(copy.parent, ignore_errors=True)
        ended = start(*words, before=tuple(range(moment, moment + again + 1)))

        assert_interrupted(ended, moment)
        assert before == state(source)
        outcomes.add(copy.exists())
        if copy.exists():
            assert start("port", copy, *GPU)[1] == 0
            again_complete = {path: data for path, (_, data) in state(copy).items() if ".rocm3d" not in path.parts}
            assert complete == again_complete
        else:
            assert not copy.parent.exists()
    assert outcomes == {False, True}


def test_port_in_place(start, moments, source, snapshot):
    """Whatever was interrupted, undo restores the tree or finds nothing to undo, and a second port completes it."""
    before = snapshot(source)
    words = ("port", source, *GPU)
    chosen = moments(*words)
    complete = snapshot(source)
    start("undo", source)
    for moment in chosen:
        assert_interrupted(start(*words, before=(moment,)), moment)
        assert snapshot(source) in (before, complete), f"half a change after event {moment}"
        _, code, err = start(*words)
        assert code == 0, (moment, err)
        assert complete == snapshot(source)
        assert start("undo", source)[1] == 0
        assert before == snapshot(source)


def test_a_third_interrupt_ends_a_clean_up(start, moments, source, tmp_path):
    copy = tmp_path / "copy"
    words = ("port", source, *GPU, "--into", copy)
    chosen = moments(*words, reset=lambda: shutil.rmtree(copy, ignore_errors=True))
    shutil.rmtree(copy)
    moment = chosen[len(chosen) // 3]
    _, code, err = start(*words, before=tuple(range(moment, moment + 400)))

    assert code == 130
    assert "Traceback" not in err


def test_a_signal_that_is_ignored_stays_ignored(source, tmp_path):
    """As under nohup."""
    hook = tmp_path / "hook"
    hook.mkdir()
    environment = {**os.environ, **interrupting(hook, before=(5, 50, 150))}
    command = ["bash", "-c", 'trap "" INT; exec "$0" -m rocm3d "$@"', sys.executable, "scan", source, "--quiet"]
    ended = subprocess.run(
        [*map(str, command)], env=environment, start_new_session=True, capture_output=True, text=True, check=False
    )

    assert ended.returncode == 1, ended.stderr  # it has a finding


def test_the_console_script_is_the_module():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()

    assert 'rocm3d = "rocm3d.__main__:main"' in text
