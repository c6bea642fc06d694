"""The report of a run and its estimate of the remaining time."""

from __future__ import annotations

from rocm3d.jobs.folder import run_folder
from rocm3d.jobs.job_progress import JobProgress, report, seconds_left
from rocm3d.jobs.specification import read_jobs


def test_nothing_is_estimated_without_a_job_that_is_done_or_one_that_is_left():
    waiting, done = JobProgress("a", ""), JobProgress("b", "", "done", attempts=1, seconds=10)
    assert seconds_left([waiting], 2, 0) is None
    assert seconds_left([done], 2, 0) is None
    assert seconds_left([done, waiting], 0, 0) is None


def test_estimate_divides_the_remaining_time_by_the_slots():
    done = [JobProgress(str(number), "", "done", attempts=1, seconds=10) for number in range(3)]
    waiting = [JobProgress(f"w{number}", "") for number in range(4)]
    running = JobProgress("r", "", "running", attempts=1, started=96)
    assert seconds_left([*done, *waiting], 2, 100) == 20
    assert seconds_left([*done, running], 2, 100) == 6


def test_jobs_have_the_order_of_the_file(jobs_folder):
    jobs = read_jobs(
        jobs_folder.write('[[job]]\nid = "b"\ncommand = ["true"]\n[[job]]\nid = "a"\ncommand = ["true"]\n')
    )
    folder = run_folder(jobs.path, None)
    progress = {
        "a": JobProgress("a", "", "failed", attempts=2, closed=2, code=3, reason="exit code 3"),
        "b": JobProgress("b", ""),
    }
    document = report(jobs, folder, progress, ["cpu-1"], ["a note"])
    assert [job.id for job in document.jobs] == ["b", "a"]
    assert document.counts == {"waiting": 1, "failed": 1}
    assert document.has_failures
    assert document.jobs[1].log == str(folder.log("a", 2))
    assert (document.jobs[0].log, document.jobs[0].seconds) == ("", None)
