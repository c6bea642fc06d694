from __future__ import annotations

from datetime import timedelta

import pytest

from rocm3d.verify.runs.kept import Kept, latest


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"problem": "half-written"}, "half-written"),
        ({"is_present": None}, "is unknown"),
        ({"is_present": False}, "changed since"),
    ],
)
def test_what_says_nothing_about_the_repository_as_it_is_is_not_judged(make_run, more, why):
    kept = Kept("train", make_run(), **{"is_present": True, **more})

    assert why in kept.stale
    assert latest([kept]) == []


def test_a_folder_without_a_record_is_not_judged():
    assert latest([Kept("train", None, "", True)]) == []


def test_of_each_name_the_last_one_counts(make_run):
    first = make_run(status="failed")
    second = make_run(started=first.started + timedelta(hours=1))
    other = make_run(name="render")

    kept = [Kept("train-2", second, "", True), Kept("train", first, "", True), Kept("render", other, "", True)]

    assert [item.folder for item, _ in latest(kept)] == ["train-2", "render"]
