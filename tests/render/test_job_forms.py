from __future__ import annotations

import pytest

from rocm3d.model.jobs import DoubleAttempt, JobsReport, JobState
from rocm3d.render import console
from rocm3d.render.job_forms import MAX_DONE_SHOWN, duration, job_table, state_counts, time_left


def job(name: str, state: str = "done", **more: object) -> JobState:
    return JobState(id=name, state=state, attempts=1, failures=0, interruptions=0, **more)


def document(*jobs: JobState, **more: object) -> JobsReport:
    return JobsReport(name="n", folder="f", engine="local", jobs=jobs, **more)


def test_control_characters_of_others_are_not_obeyed():
    shown = console.render(document(job("a", reason="\x1b[31mred", slot="\x07"), notes=("\x1b]0;x",)))
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_no_jobs_make_no_table():
    assert job_table([]) == []
    assert state_counts({}) == "no jobs"


def test_a_table_has_a_line_for_each_job():
    shown = console.render(
        document(job("a", seconds=75.2, slot="cpu-1"), job("long-name", "failed", reason="exit code 3"))
    )
    assert shown.splitlines() == [
        "job        state   attempts  interrupted  where  time",
        "a          done           1               cpu-1  1:15",
        "long-name  failed         1                            exit code 3",
    ]


def test_of_many_jobs_those_that_are_done_are_left_out():
    shown = console.render(document(*(job(f"j{number}") for number in range(MAX_DONE_SHOWN)), job("bad", "failed")))
    assert "bad" in shown
    assert "j1" not in shown
    assert f"done jobs not shown: {MAX_DONE_SHOWN}" in shown


def test_the_summary_counts_and_names_the_next_step():
    messages = console.summary(
        document(job("a"), job("b", "timed_out", log="/x/b.1.txt"), runner=7, seconds_left=125.0)
    )
    assert messages.splitlines() == [
        "1 done, 1 timed out; about 2:05 left",
        "run by process 7",
        "see /x/b.1.txt; run them again with `rocm3d jobs retry`",
    ]


def test_doubles_are_listed_with_their_attempts():
    double = job("a", doubles=(DoubleAttempt(attempt=1, completed=True), DoubleAttempt(attempt=2, completed=False)))
    messages = console.summary(document(double.model_copy(update={"attempts": 3}), job("b")))
    assert messages.splitlines() == [
        "2 done",
        "ran twice, or may have: 1 (see ROCM3D_ATTEMPT_ID in docs/jobs.md)",
        "  a: attempt 1 completed, attempt 2 has no recorded end; repeated as attempt 3",
    ]


def test_of_many_doubles_the_first_are_listed():
    doubles = (DoubleAttempt(attempt=1, completed=False),)
    messages = console.summary(document(*(job(f"j{number:02}", doubles=doubles) for number in range(30))))
    assert "j19" in messages
    assert "j20" not in messages
    assert "  more: 10, see --format json" in messages


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.123, "0.12 s"), (9.94, "9.9 s"), (42.4, "42 s"), (61, "1:01"), (3723, "1:02:03")]
)
def test_spans(seconds, text):
    assert duration(seconds) == text
    assert time_left(seconds).endswith(f"{text} left")
    assert time_left(None) == ""
