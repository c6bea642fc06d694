"""A run as people see it: nothing is left behind however it ends, and other terminals can step in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from functools import partial

import pytest

from rocm3d.jobs.folder import run_folder
from rocm3d.jobs.specification import read
from rocm3d.jobs.stage import Campaign
from rocm3d.model.failure import UserError

# A child in the group, one that left it, and one of that one.
FAMILY = "sleep 300 & setsid sleep 300 & setsid sh -c 'sleep 300 & sleep 300' & sleep 300"


@pytest.fixture
def campaign(yard):
    def make(text: str) -> Campaign:
        jobs = read(yard.write("[run]\nslots = 2\ngpus = []\n" + text))
        return Campaign(jobs, run_folder(jobs.path, None))

    return make


def family(yard, count: int = 1, more: str = "") -> None:
    names = [f"f{number}" for number in range(count)]
    yard.write(
        f"[run]\nslots = {count}\ngpus = []\ngrace = 0\n{more}"
        f'[[job]]\nid = "{{}}"\neach = {names}\ncommand = ["sh", "-c", "{FAMILY}"]\n'
    )


@pytest.mark.parametrize("command", ["cancel", "retry"])
def test_a_job_that_is_not_there_is_refused(campaign, command):
    with pytest.raises(UserError, match=r"no job is called 'b' in jobs\.toml"):
        campaign('[[job]]\nid = "a"\ncommand = ["true"]\n').wish(command, ["b"])


def test_a_log_that_is_not_there_is_refused(campaign):
    asked = campaign('[[job]]\nid = "a"\ncommand = ["true"]\n')
    with pytest.raises(UserError, match="job a was not started yet"):
        asked.log("a", None)
    asked.run()
    with pytest.raises(UserError, match="job a has no attempt 7"):
        asked.log("a", 7)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGHUP, -1)]
)
def test_a_runner_that_is_ended_leaves_no_orphan_and_goes_on_later(yard, number, code):
    family(yard, 2)
    # Some shells start programs with Ctrl-C ignored, which is inherited.
    default = [partial(signal.signal, item, signal.SIG_DFL) for item in (signal.SIGINT, signal.SIGHUP)]
    runner = yard.start(preexec_fn=lambda: [reset() for reset in default])
    yard.waits_for(lambda: len(yard.alive()) >= 12)
    runner.send_signal(number)
    _, err = runner.communicate(timeout=30)

    assert runner.returncode == code
    assert yard.is_quiet()
    assert ("interrupted" in err) == (number == signal.SIGINT)
    assert {(job["state"], job["attempts"], job["interruptions"]) for job in yard.status()["jobs"]} == {
        ("waiting", 1, 1)
    }


def test_a_time_out_ends_all_that_a_job_started(yard):
    family(yard, more='timeout = "0.5s"\n')
    code, out, err = yard.call("run", "--format", "json")

    assert code == 1, err
    assert [(job["state"], job["reason"]) for job in json.loads(out)["jobs"]] == [("timed_out", "not done after 0.5 s")]
    assert yard.is_quiet(3)


def test_a_job_that_ends_takes_along_what_it_left_behind(campaign, yard):
    campaign('[[job]]\nid = "a"\ncommand = ["sh", "-c", "(setsid sleep 300 &) ; sleep 300 & exit 0"]\n').run()
    assert yard.is_quiet(3)


def test_a_job_is_asked_to_end_before_it_is_killed(campaign, yard):
    saving = "trap 'echo saved; exit 0' TERM; sleep 9 & wait"
    document = campaign(f'[[job]]\nid = "a"\ntimeout = "0.3s"\ngrace = 9\ncommand = ["sh", "-c", "{saving}"]\n').run()
    assert document.jobs[0].state == "timed_out"
    assert document.jobs[0].seconds < 5
    assert (yard.run / "logs" / "a.1.txt").read_text() == "saved\n"


def test_another_terminal_cancels_what_waits_and_what_runs_and_asks_again(yard):
    family(yard, 2)
    text = (yard.root / "jobs.toml").read_text().replace("slots = 2", "slots = 1")
    yard.write(text + '[[job]]\nid = "last"\ncommand = ["sh", "-c", "test -e there"]\n')
    runner = yard.start()
    yard.waits_for(lambda: len(yard.alive()) >= 6)
    assert yard.status()["runner"] == runner.pid
    assert "ends them now" in yard.call("cancel", "f0", "f1")[2]
    runner.communicate(timeout=30)

    assert runner.returncode == 1
    assert yard.is_quiet(3)
    assert yard.states() == {"f0": "cancelled", "f1": "cancelled", "last": "failed"}
    (yard.root / "there").touch()
    assert "run them with" in yard.call("retry", "last")[2]
    assert yard.call("run", "--quiet")[0] == 1
    assert yard.states() == {"f0": "cancelled", "f1": "cancelled", "last": "done"}


def test_a_second_runner_is_refused(yard):
    family(yard)
    runner = yard.start()
    yard.waits_for(yard.alive)
    code, _, err = yard.call("run")
    runner.kill()
    runner.communicate(timeout=20)

    assert code == 2
    assert f"process {runner.pid} is already running" in err


def test_what_is_done_stays_done_and_a_changed_command_is_run(campaign, yard):
    text = '[[job]]\nid = "a"\ncommand = ["sh", "-c", "echo x >> out"]\n'
    for _ in range(2):
        assert campaign(text).run().counts == {"done": 1}
    assert (yard.root / "out").read_text() == "x\n"
    assert campaign(text.replace("echo x", "echo y")).run().jobs[0].attempts == 2
    assert (yard.root / "out").read_text() == "x\ny\n"
    kept = campaign(text.replace("echo x", "echo y"))
    kept.forget()
    assert kept.status().counts == {"waiting": 1}


def test_a_damaged_journal_is_made_anew_and_nothing_is_repeated(campaign, yard):
    text = '[[job]]\nid = "a"\ncommand = ["sh", "-c", "echo x >> out"]\n'
    campaign(text).run()
    (yard.run / "journal.sqlite").write_bytes(b"no journal" * 999)
    assert campaign(text).status().counts == {"done": 1}
    said: list[str] = []
    document = campaign(text).run(say=said.append)
    assert document.counts == {"done": 1}
    assert "the journal was damaged" in said[0]
    assert (yard.root / "out").read_text() == "x\n"


def test_a_program_that_is_not_there_fails_with_its_name_in_the_log(campaign, yard):
    document = campaign('[[job]]\nid = "a"\ncommand = ["rocm3d-no-such"]\n').run()
    assert (document.jobs[0].state, document.jobs[0].code) == ("failed", 127)
    assert "rocm3d: rocm3d-no-such in " in (yard.run / "logs" / "a.1.txt").read_text()


def test_evidence_is_a_bundle_for_each_job(campaign, yard):
    document = campaign('[[job]]\nid = "a"\nevidence = true\ncommand = ["sh", "-c", "echo made > made.txt"]\n').run()
    assert document.counts == {"done": 1}
    assert json.loads((yard.root / ".rocm3d/runs/a/run.json").read_text())["status"] == "finished"


def test_a_full_disk_stops_what_has_not_begun_in_one_line_and_what_ends_is_still_noted(yard):
    if os.getuid() or subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        pytest.skip("not run: only root can make a small disk")
    yard.write(
        "[run]\nslots = 1\ngpus = []\n"
        '[[job]]\nid = "{}"\neach = ["a", "b", "c"]\n'
        'command = ["sh", "-c", "echo {} >> started; head -c 9M /dev/zero > full"]\n'
    )
    inside = (
        f"mount -t tmpfs -o size=4m tmpfs {yard.root}/small && cp {yard.root}/jobs.toml {yard.root}/small"
        f' && cd {yard.root}/small && {{ "$@"; echo code $?; "$@"; echo code $?; '
        "cat started; ls .rocm3d/jobs/jobs/status; }"
    )
    (yard.root / "small").mkdir()
    program = yard.program("run", yard.root / "small" / "jobs.toml")
    ended = subprocess.run(
        ["unshare", "-m", "sh", "-c", inside, "sh", *program], capture_output=True, text=True, check=False
    )

    assert ended.stderr.count("rocm3d: no space is left on the disk of ") == 2
    assert ended.stderr.count("\n") <= 6, ended.stderr
    assert ended.stdout.splitlines() == ["code 4", "code 4", "a", "a.1"]
