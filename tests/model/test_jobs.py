from __future__ import annotations

from rocm3d.model.jobs import JobsReport, JobState


def job(name: str, state: str) -> JobState:
    return JobState(id=name, state=state, attempts=1, failures=0, interruptions=0)


def test_a_report_counts_its_jobs_in_a_fixed_order():
    document = JobsReport(
        name="n", folder="f", engine="local", jobs=(job("a", "failed"), job("b", "done"), job("c", "done"))
    )
    assert list(document.counts.items()) == [("done", 2), ("failed", 1)]
    assert document.has_failures
    assert JobsReport.from_json(document.to_json(), "x") == document


def test_waiting_and_done_jobs_are_no_failures():
    assert not JobsReport(
        name="n", folder="f", engine="local", jobs=(job("a", "waiting"), job("b", "done"))
    ).has_failures
