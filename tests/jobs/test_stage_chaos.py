"""Many jobs while runners, launchers and jobs are killed at random and the journal is damaged: no result is lost."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from pathlib import Path

import pytest
from processes import children, is_running, kill
from waiting import has_text, output_of, wait_until

# How many jobs are killed before each kill of a runner or a launcher.
HITS = 8
# The last jobs run until all kills are done, so that there is always a job to kill.
WORK = """\
echo start >> "trace/$1"
exec 9> "lock/$1"
flock -n 9 || echo "$1" >> twice
case "$1" in last-*) until [ -e calm ]; do sleep 0.05; done ;; esac
sleep 0.01
echo end >> "trace/$1"
"""


def status_file(pid: int) -> Path | None:
    """Status file of a job, from the environment of its process; None if it has ended."""
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((Path(entry[11:].decode()) for entry in entries if entry.startswith(b"ROCM3D_JOB=")), None)


def hit(launchers: list[int], chance: random.Random) -> bool:
    """Kill a random job; False if it ended by itself before."""
    launcher = chance.choice(launchers)
    jobs = children(launcher)
    pid = chance.choice(jobs) if jobs else 0
    place = status_file(pid) if pid else None
    if place is None:
        return False
    kill([pid])
    wait_until(lambda: has_text(place) or not is_running(launcher), f"the end of job {place.name} in its status file")
    return bool(has_text(place)) and json.loads(has_text(place))["ending"] == "killed"


def disturb(jobs_folder, runner: int, chance: random.Random) -> int:
    """Kill some jobs, one after the other; returns how many."""
    for _ in range(HITS):
        time.sleep(chance.uniform(0.01, 0.05))
        wait_until(
            lambda: (launchers := jobs_folder.launchers(runner)) and hit(launchers, chance),
            f"a job of runner {runner} to kill",
        )
    return HITS


def disturbed(jobs_folder, chance: random.Random, runners: int) -> tuple[int, str]:
    """Start and kill several runners; returns the number of killed jobs and all messages."""
    hits, told = 0, ""
    for number in range(runners):
        runner = jobs_folder.start()
        hits += disturb(jobs_folder, runner.pid, chance)
        launchers = jobs_folder.launchers(runner.pid)
        if number % 4 == 1:
            # A runner whose launcher was killed starts another one.
            kill(launchers)
            hits += disturb(jobs_folder, runner.pid, chance)
        kill([runner.pid])
        if number % 4 == 3:
            # Without its launcher nothing cleans up; the next runner must kill the remaining processes.
            kill(launchers)
        told += output_of(runner)[1]
        if number == runners // 2:
            for path in jobs_folder.run.glob("journal.sqlite*"):
                path.write_bytes(chance.randbytes(20000))
    return hits, told


def counted(jobs_folder) -> tuple[Counter, Counter]:
    """From the status files: number of the last attempt, and of attempts that ended as done, per job."""
    begun, done = Counter(), Counter()
    for place in (jobs_folder.run / "status").iterdir():
        form = re.fullmatch(r"(\w+-\d+)\.(\d+)(\.running)?", place.name)
        begun[form[1]] = max(begun[form[1]], int(form[2]))
        done[form[1]] += not form[3] and '"ending": "done"' in place.read_text()
    return begun, done


@pytest.mark.parametrize(("count", "runners"), [(100, 4), pytest.param(1000, 8, marks=pytest.mark.engines)])
def test_many_jobs_survive_whatever_is_killed(jobs_folder, count, runners):
    (jobs_folder.root / "work.sh").write_text(WORK)
    for name in ("trace", "lock"):
        (jobs_folder.root / name).mkdir()
    jobs = [f"{'job' if number < count - 10 else 'last'}-{number:04}" for number in range(count)]
    jobs_folder.write(
        f"[run]\nslots = 4\ngpus = []\ngrace = 0\ninterruptions = 1000\n"
        f'[[job]]\nid = "{{}}"\neach = {jobs}\ncommand = ["sh", "work.sh", "{{}}"]\n'
    )
    hits, told = disturbed(jobs_folder, random.Random(11), runners)
    (jobs_folder.root / "calm").touch()
    code, _, said = jobs_folder.call("run", "--quiet")
    begun, done = counted(jobs_folder)
    document = jobs_folder.status()

    assert code == 0, said
    assert told.count("the journal was damaged") == 1
    assert len(list(jobs_folder.run.glob("journal.sqlite.damaged-*[0-9]"))) == 1
    assert not (jobs_folder.root / "twice").exists()
    jobs_folder.wait_until_quiet()
    # Each job is done exactly once, by its last attempt.
    assert done == dict.fromkeys(jobs, 1)
    assert all('"ending": "done"' in (jobs_folder.run / "status" / f"{job}.{begun[job]}").read_text() for job in jobs)
    assert {job["id"]: job["attempts"] for job in document["jobs"]} == begun
    assert all(job["state"] == "done" and job["interruptions"] == job["attempts"] - 1 for job in document["jobs"])
    assert sum(job["interruptions"] for job in document["jobs"]) >= hits
    for job in jobs:
        lines = (jobs_folder.root / "trace" / job).read_text().split()
        assert 1 <= lines.count("end") <= lines.count("start") <= begun[job]
    before = sorted(path.name for path in (jobs_folder.run / "status").iterdir())
    assert jobs_folder.call("run", "--quiet")[0] == 0
    assert before == sorted(path.name for path in (jobs_folder.run / "status").iterdir())
