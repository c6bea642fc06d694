from __future__ import annotations

from datetime import timedelta

import pytest

from rocm3d.verify.runs.stored_run import StoredRun, latest_runs


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"problem": "half-written"}, "half-written"),
        ({"matches_code": None}, "is unknown"),
        ({"matches_code": False}, "changed since"),
    ],
)
def test_unusable_runs_are_ignored(make_run, more, why):
    stored_run = StoredRun("train", make_run(), **{"matches_code": True, **more})

    assert why in stored_run.unusable_reason
    assert latest_runs([stored_run]) == []


def test_a_folder_without_a_record_is_ignored():
    assert latest_runs([StoredRun("train", None, "", True)]) == []


def test_the_latest_run_of_each_name_is_used(make_run):
    first = make_run(status="failed")
    second = make_run(started=first.started + timedelta(hours=1))
    other = make_run(name="render")

    stored_runs = [
        StoredRun("train-2", second, "", True),
        StoredRun("train", first, "", True),
        StoredRun("render", other, "", True),
    ]

    assert [item.folder for item, _ in latest_runs(stored_runs)] == ["train-2", "render"]
