"""A thousand jobs while runners, launchers and jobs are killed at random, and the journal is spoilt: all is counted."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import time
from collections import Counter

JOBS = 1000
KILLS_OF_RUNNERS = 8
HITS = 8
WORK = """\
echo start >> "trace/$1"
exec 9> "lock/$1"
flock -n 9 || echo "$1" >> twice
sleep 0.01
echo end >> "trace/$1"
"""


def kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def disturb(yard, runner: subprocess.Popen, chance: random.Random) -> int:
    """Kill some jobs, one after the other; how many were hit. By number, not by time: the machine may be busy."""
    hit = 0
    end = time.monotonic() + 30
    while hit < HITS and time.monotonic() < end and runner.poll() is None:
        time.sleep(chance.uniform(0.01, 0.05))
        jobs = [job for launcher in yard.children(runner.pid) for job in yard.children(launcher)]
        if jobs:
            kill(chance.choice(jobs))
            hit += 1
    return hit


def disturbed(yard, chance: random.Random) -> tuple[int, str]:
    """Runners that are killed one after the other; how many jobs were hit, and all that was said."""
    hit, told = 0, ""
    for number in range(KILLS_OF_RUNNERS):
        runner = yard.start()
        hit += disturb(yard, runner, chance)
        launchers = yard.children(runner.pid)
        if number % 4 == 1:
            # A runner whose launcher is gone calls another one.
            for pid in launchers:
                kill(pid)
            hit += disturb(yard, runner, chance)
        kill(runner.pid)
        if number % 4 == 3:
            # The one that cleans up is killed, too: its jobs die with it, and the next runner sees to the rest.
            for pid in launchers:
                kill(pid)
        told += runner.communicate(timeout=30)[1]
        if number == KILLS_OF_RUNNERS // 2:
            for path in yard.run.glob("journal.sqlite*"):
                path.write_bytes(chance.randbytes(20000))
    return hit, told


def counted(yard) -> tuple[Counter, Counter]:
    """By the status files alone: for each job the number of its last attempt, and how often it was done."""
    begun, done = Counter(), Counter()
    for place in (yard.run / "status").iterdir():
        form = re.fullmatch(r"(job-\d+)\.(\d+)(\.running)?", place.name)
        begun[form[1]] = max(begun[form[1]], int(form[2]))
        done[form[1]] += not form[3] and '"ending": "done"' in place.read_text()
    return begun, done


def test_a_thousand_jobs_survive_whatever_is_killed(yard):
    (yard.root / "work.sh").write_text(WORK)
    for name in ("trace", "lock"):
        (yard.root / name).mkdir()
    jobs = [f"job-{number:04}" for number in range(JOBS)]
    yard.write(
        f"[run]\nslots = 4\ngpus = []\ngrace = 0\ninterruptions = 1000\n"
        f'[[job]]\nid = "{{}}"\neach = {jobs}\ncommand = ["sh", "work.sh", "{{}}"]\n'
    )
    hit, told = disturbed(yard, random.Random(11))
    code, _, said = yard.call("run", "--quiet")
    begun, done = counted(yard)
    document = yard.status()

    assert code == 0, said
    assert hit >= HITS * KILLS_OF_RUNNERS
    assert told.count("the journal was damaged") == 1
    assert len(list(yard.run.glob("journal.sqlite.damaged-*[0-9]"))) == 1
    assert not (yard.root / "twice").exists()
    assert yard.is_quiet()
    # Each is done once, by its last attempt: none was begun after it.
    assert done == dict.fromkeys(jobs, 1)
    assert all('"ending": "done"' in (yard.run / "status" / f"{job}.{begun[job]}").read_text() for job in jobs)
    assert {job["id"]: job["attempts"] for job in document["jobs"]} == begun
    assert all(job["state"] == "done" and job["interruptions"] == job["attempts"] - 1 for job in document["jobs"])
    assert sum(job["interruptions"] for job in document["jobs"]) >= hit / 2
    for job in jobs:
        lines = (yard.root / "trace" / job).read_text().split()
        assert 1 <= lines.count("end") <= lines.count("start") <= begun[job]
    before = sorted(path.name for path in (yard.run / "status").iterdir())
    assert yard.call("run", "--quiet")[0] == 0
    assert before == sorted(path.name for path in (yard.run / "status").iterdir())
