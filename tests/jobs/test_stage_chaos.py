"""Many jobs while runners, launchers and jobs are killed at random and the journal is damaged: no result is lost.

Jobs run at least once. Status names every job of which an earlier attempt may have completed, and no other.
"""

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
KILLS_PER_ROUND = 8
# The last jobs run until all kills are done, so that there is always a job to kill.
WORK = """\
echo start $ROCM3D_ATTEMPT_ID >> "trace/$1"
exec 9> "lock/$1"
flock -n 9 || echo "$1" >> twice
case "$1" in last-*) until [ -e calm ]; do sleep 0.05; done ;; esac
sleep 0.01
echo end $ROCM3D_ATTEMPT_ID >> "trace/$1"
"""


def status_file(pid: int) -> Path | None:
    """Status file of a job, from the environment of its process; None if it has ended."""
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((Path(entry[11:].decode()) for entry in entries if entry.startswith(b"ROCM3D_JOB=")), None)


def kill_random_job(launchers: list[int], chance: random.Random) -> bool:
    """Kill a random job; False if it ended by itself before."""
    launcher = chance.choice(launchers)
    jobs = children(launcher)
    pid = chance.choice(jobs) if jobs else 0
    status_path = status_file(pid) if pid else None
    if status_path is None:
        return False
    kill([pid])
    wait_until(
        lambda: has_text(status_path) or not is_running(launcher),
        f"the end of job {status_path.name} in its status file",
    )
    return bool(has_text(status_path)) and json.loads(has_text(status_path))["ending"] == "killed"


def kill_some_jobs(jobs_folder, runner: int, chance: random.Random) -> int:
    """Kill some jobs, one after the other; returns how many."""
    for _ in range(KILLS_PER_ROUND):
        time.sleep(chance.uniform(0.01, 0.05))
        wait_until(
            lambda: (launchers := jobs_folder.launchers(runner)) and kill_random_job(launchers, chance),
            f"a job of runner {runner} to kill",
        )
    return KILLS_PER_ROUND


def run_and_kill_runners(jobs_folder, chance: random.Random, runners: int) -> tuple[int, str]:
    """Start and kill several runners; returns the number of killed jobs and all messages."""
    kills, messages = 0, ""
    for number in range(runners):
        runner = jobs_folder.start()
        kills += kill_some_jobs(jobs_folder, runner.pid, chance)
        launchers = jobs_folder.launchers(runner.pid)
        if number % 4 == 1:
            # A runner whose launcher was killed starts another one.
            kill(launchers)
            kills += kill_some_jobs(jobs_folder, runner.pid, chance)
        kill([runner.pid])
        if number % 4 == 3:
            # Without its launcher nothing cleans up; the next runner must kill the remaining processes.
            kill(launchers)
        messages += output_of(runner)[1]
        if number == runners // 2:
            for path in jobs_folder.run.glob("journal.sqlite*"):
                path.write_bytes(chance.randbytes(20000))
    return kills, messages


def attempts_without_an_end(jobs_folder) -> dict[str, set[int]]:
    """From the names of the status files: attempts whose end nobody recorded, except the last of a job."""
    open_ends: dict[str, set[int]] = {}
    for status_path in (jobs_folder.run / "status").glob("*.running"):
        job, number, _ = status_path.name.rsplit(".", 2)
        open_ends.setdefault(job, set()).add(int(number))
    return open_ends


def ended_attempts(jobs_folder, job: str) -> list[str]:
    """Ids of the attempts that reached the last line of the job."""
    lines = (jobs_folder.root / "trace" / job).read_text().splitlines()
    return [line.split()[1] for line in lines if line.startswith("end ")]


def assert_doubles_are_shown(jobs_folder, document: dict) -> None:
    """Every job with an earlier attempt that may have completed is a double in status, and nothing else is."""
    states = {job["id"]: job for job in document["jobs"]}
    shown = {name: {item["attempt"] for item in job["doubles"]} for name, job in states.items() if job["doubles"]}
    assert shown
    assert shown == attempts_without_an_end(jobs_folder)
    # What the jobs themselves saw: an earlier attempt that reached its last line was either recorded as killed or
    # interrupted before it could exit, or it is a double.
    for name, job in states.items():
        ids = ended_attempts(jobs_folder, name)
        assert ids[-1] == job["attempt_id"]
        assert len(ids) == len(set(ids))
        for attempt_id in ids[:-1]:
            number = int(attempt_id.removeprefix(f"{name}.").partition("-")[0])
            status_path = jobs_folder.run / "status" / f"{name}.{number}"
            ending = json.loads(status_path.read_text())["ending"] if status_path.exists() else ""
            assert ending in ("killed", "interrupted") or attempt_id in {item["id"] for item in job["doubles"]}


def count_attempts(jobs_folder) -> tuple[Counter, Counter]:
    """From the status files: number of the last attempt, and of attempts that ended as done, per job."""
    attempts, done = Counter(), Counter()
    for status_path in (jobs_folder.run / "status").iterdir():
        match = re.fullmatch(r"(\w+-\d+)\.(\d+)(\.running)?", status_path.name)
        attempts[match[1]] = max(attempts[match[1]], int(match[2]))
        done[match[1]] += not match[3] and '"ending": "done"' in status_path.read_text()
    return attempts, done


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
    kills, messages = run_and_kill_runners(jobs_folder, random.Random(11), runners)
    (jobs_folder.root / "calm").touch()
    code, _, last_messages = jobs_folder.call("run", "--quiet")
    attempts, done = count_attempts(jobs_folder)
    document = jobs_folder.status()

    assert code == 0, last_messages
    assert messages.count("the journal was damaged") == 1
    assert len(list(jobs_folder.run.glob("journal.sqlite.damaged-*[0-9]"))) == 1
    assert not (jobs_folder.root / "twice").exists()
    jobs_folder.wait_until_quiet()
    # Each job is done exactly once, by its last attempt.
    assert done == dict.fromkeys(jobs, 1)
    assert all(
        '"ending": "done"' in (jobs_folder.run / "status" / f"{job}.{attempts[job]}").read_text() for job in jobs
    )
    assert {job["id"]: job["attempts"] for job in document["jobs"]} == attempts
    assert all(job["state"] == "done" and job["interruptions"] == job["attempts"] - 1 for job in document["jobs"])
    assert sum(job["interruptions"] for job in document["jobs"]) >= kills
    for job in jobs:
        lines = [line.split()[0] for line in (jobs_folder.root / "trace" / job).read_text().splitlines()]
        assert 1 <= lines.count("end") <= lines.count("start") <= attempts[job]
    assert_doubles_are_shown(jobs_folder, document)
    before = sorted(path.name for path in (jobs_folder.run / "status").iterdir())
    assert jobs_folder.call("run", "--quiet")[0] == 0
    assert before == sorted(path.name for path in (jobs_folder.run / "status").iterdir())
