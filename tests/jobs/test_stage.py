"""Complete runs: no process survives them however they end, and other terminals can cancel and retry."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from functools import partial

import pytest
from processes import Program, end_family
from waiting import DEADLINE, output_of, wait_until

from rocm3d.jobs.folder import run_folder
from rocm3d.jobs.specification import read_jobs
from rocm3d.jobs.stage import Campaign
from rocm3d.model.errors import UserError
from rocm3d.model.jobs import JobState

# A child in the process group, one that left it, and a child of that one.
FAMILY = "sleep 3600 & setsid sleep 3600 & setsid sh -c 'sleep 3600 & touch begun; sleep 3600' & sleep 3600"
# A job may be slow to start: if its limit ends it before that, the next longer limit is tried.
LIMITS = [limit for limit in (0.5, 2, 8, 32, 128, 512) if limit < DEADLINE]


@pytest.fixture
def campaign(jobs_folder):
    def make(text: str) -> Campaign:
        jobs = read_jobs(jobs_folder.write("[run]\nslots = 2\ngpus = []\n" + text))
        return Campaign(jobs, run_folder(jobs.path, None))

    return make


def write_family_jobs(jobs_folder, count: int = 1, more: str = "") -> None:
    names = [f"f{number}" for number in range(count)]
    jobs_folder.write(
        f"[run]\nslots = {count}\ngpus = []\ngrace = 0\n{more}"
        f'[[job]]\nid = "{{}}"\neach = {names}\ncommand = ["sh", "-c", "{FAMILY}"]\n'
    )


@pytest.mark.parametrize("command", ["cancel", "retry"])
def test_unknown_job_is_refused(campaign, command):
    with pytest.raises(UserError, match=r"no job 'b' in jobs\.toml"):
        campaign('[[job]]\nid = "a"\ncommand = ["true"]\n').request(command, ["b"])


def test_missing_log_is_refused(campaign):
    job_campaign = campaign('[[job]]\nid = "a"\ncommand = ["true"]\n')
    with pytest.raises(UserError, match="job a has not started yet"):
        job_campaign.log("a", None)
    job_campaign.run()
    with pytest.raises(UserError, match="job a has no attempt 7"):
        job_campaign.log("a", 7)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGHUP, -1)]
)
def test_stopped_runner_leaves_no_orphans_and_can_resume(jobs_folder, number, code):
    write_family_jobs(jobs_folder, 2)
    # Some shells start programs with Ctrl-C ignored, which is inherited.
    default = [
        partial(signal.signal, signal_number, signal.SIG_DFL) for signal_number in (signal.SIGINT, signal.SIGHUP)
    ]
    runner = jobs_folder.start(preexec_fn=lambda: [reset() for reset in default])
    wait_until(lambda: len(jobs_folder.alive()) >= 12, "two jobs with all that they start")
    runner.send_signal(number)
    _, err = output_of(runner)

    assert runner.returncode == code
    jobs_folder.wait_until_quiet()
    assert ("interrupted" in err) == (number == signal.SIGINT)
    assert {(job["state"], job["attempts"], job["interruptions"]) for job in jobs_folder.status()["jobs"]} == {
        ("waiting", 1, 1)
    }


def run_until_started(campaign, jobs_folder, job: str) -> tuple[JobState, float]:
    """A job with a time limit that ended it after it had begun; its state and the limit."""
    for limit in LIMITS:
        job_campaign = campaign(f'[[job]]\nid = "a"\ntimeout = "{limit}s"\n{job}')
        job_campaign.reset()
        document = job_campaign.run()
        if (jobs_folder.root / "begun").exists():
            return document.jobs[0], limit
    pytest.fail(f"the job did not begin within {LIMITS[-1]} s")


def test_a_time_out_ends_all_that_a_job_started(campaign, jobs_folder):
    job, limit = run_until_started(campaign, jobs_folder, f'grace = 0\ncommand = ["sh", "-c", "{FAMILY}"]\n')

    assert (job.state, job.reason) == ("timed_out", f"stopped at the {limit:g} s limit")
    jobs_folder.wait_until_quiet()


def test_background_processes_end_with_their_job(campaign, jobs_folder):
    campaign('[[job]]\nid = "a"\ncommand = ["sh", "-c", "(setsid sleep 3600 &) ; sleep 3600 & exit 0"]\n').run()
    jobs_folder.wait_until_quiet()


def test_job_gets_sigterm_before_sigkill(campaign, jobs_folder):
    saving = "trap 'echo saved; exit 0' TERM; touch begun; sleep 3600 & wait"
    job, _ = run_until_started(campaign, jobs_folder, f'grace = 600\ncommand = ["sh", "-c", "{saving}"]\n')

    assert job.state == "timed_out"
    assert (jobs_folder.run / "logs" / "a.1.txt").read_text() == "saved\n"


def test_another_terminal_cancels_and_retries_jobs(jobs_folder, rocm3d):
    def other_terminal(command: str, *more: str):
        return rocm3d("jobs", command, jobs_folder.root / "jobs.toml", *more)

    write_family_jobs(jobs_folder, 2)
    text = (jobs_folder.root / "jobs.toml").read_text().replace("slots = 2", "slots = 1")
    jobs_folder.write(text + '[[job]]\nid = "last"\ncommand = ["sh", "-c", "test -e there"]\n')
    runner = jobs_folder.start()
    wait_until(lambda: len(jobs_folder.alive()) >= 6, "a job with all that it starts")
    assert json.loads(other_terminal("status", "--format", "json", "--quiet").out)["runner"] == runner.pid
    assert "the runner is stopping them" in other_terminal("cancel", "f0", "f1").err
    output_of(runner)

    assert runner.returncode == 1
    jobs_folder.wait_until_quiet()
    assert jobs_folder.states() == {"f0": "cancelled", "f1": "cancelled", "last": "failed"}
    (jobs_folder.root / "there").touch()
    assert "run them with" in other_terminal("retry", "last").err
    assert other_terminal("run", "--quiet").code == 1
    assert jobs_folder.states() == {"f0": "cancelled", "f1": "cancelled", "last": "done"}


def test_a_second_runner_is_refused(jobs_folder, rocm3d):
    write_family_jobs(jobs_folder)
    runner = jobs_folder.start()
    wait_until(jobs_folder.alive, "the job")
    second = rocm3d("jobs", "run", jobs_folder.root / "jobs.toml")
    end_family(runner)

    assert second.code == 2
    assert f"process {runner.pid} is already running" in second.err


def test_finished_job_is_not_repeated_unless_its_command_changes(campaign, jobs_folder):
    text = '[[job]]\nid = "a"\ncommand = ["sh", "-c", "echo x >> out"]\n'
    for _ in range(2):
        assert campaign(text).run().counts == {"done": 1}
    assert (jobs_folder.root / "out").read_text() == "x\n"
    assert campaign(text.replace("echo x", "echo y")).run().jobs[0].attempts == 2
    assert (jobs_folder.root / "out").read_text() == "x\ny\n"
    changed = campaign(text.replace("echo x", "echo y"))
    changed.reset()
    assert changed.status().counts == {"waiting": 1}


def test_damaged_journal_is_rebuilt_and_nothing_is_repeated(campaign, jobs_folder):
    text = '[[job]]\nid = "a"\ncommand = ["sh", "-c", "echo x >> out"]\n'
    campaign(text).run()
    (jobs_folder.run / "journal.sqlite").write_bytes(b"no journal" * 999)
    assert campaign(text).status().counts == {"done": 1}
    notes: list[str] = []
    document = campaign(text).run(say=notes.append)
    assert document.counts == {"done": 1}
    assert "the journal was damaged" in notes[0]
    assert (jobs_folder.root / "out").read_text() == "x\n"


def test_missing_program_fails_with_its_name_in_the_log(campaign, jobs_folder):
    document = campaign('[[job]]\nid = "a"\ncommand = ["rocm3d-no-such"]\n').run()
    assert (document.jobs[0].state, document.jobs[0].code) == ("failed", 127)
    assert "rocm3d: rocm3d-no-such in " in (jobs_folder.run / "logs" / "a.1.txt").read_text()


def test_evidence_is_a_bundle_for_each_job(campaign, jobs_folder):
    document = campaign('[[job]]\nid = "a"\nevidence = true\ncommand = ["sh", "-c", "echo made > made.txt"]\n').run()
    assert document.counts == {"done": 1}
    assert json.loads((jobs_folder.root / ".rocm3d/runs/a/run.json").read_text())["status"] == "finished"


def test_full_disk_stops_waiting_jobs_and_keeps_results(jobs_folder):
    if os.getuid() or subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        pytest.skip("not run: only root can make a small disk")
    jobs_folder.write(
        "[run]\nslots = 1\ngpus = []\n"
        '[[job]]\nid = "{}"\neach = ["a", "b", "c"]\n'
        'command = ["sh", "-c", "echo {} >> started; head -c 9M /dev/zero > full"]\n'
    )
    inside = (
        f"cd {jobs_folder.root} && mount -t tmpfs -o size=4m tmpfs small && cp jobs.toml small && cd small"
        ' && { "$@"; echo code $?; "$@"; echo code $?; cat started; ls .rocm3d/jobs/jobs/status; }'
    )
    (jobs_folder.root / "small").mkdir()
    program = jobs_folder.program("run", jobs_folder.root / "small" / "jobs.toml")
    command = ["unshare", "-m", "sh", "-c", inside, "sh", *program]
    with Program(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        out, err = output_of(process)

    assert err.count("rocm3d: no space left on the disk of ") == 2
    assert err.count("\n") <= 6, err
    assert out.splitlines() == ["code 4", "code 4", "a", "a.1"]
