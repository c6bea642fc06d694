from __future__ import annotations

import types

import pytest


@pytest.fixture
def loops(hooks):
    import rocm3d_hook_loops

    return rocm3d_hook_loops.Loops()


def test_one_step_has_no_steady_time(loops):
    loops.begin("a")
    loops.step("a")

    assert loops.summary()["a"]["count"] == 1
    assert loops.summary()["a"]["steady"] is None


def test_first_step_is_reported_separately(loops, monkeypatch):
    times = iter([0.0, 10.0, 11.0, 12.5, 13.5])
    monkeypatch.setattr("time.perf_counter", lambda: next(times))
    loops.begin("a")
    for _ in range(4):
        loops.step("a")

    about = {"count": 4, "first": 10.0, "steady": 1.0, "points": [10.0, 1.0, 1.5, 1.0], "every": 1}
    assert loops.summary()["a"] == about


def test_all_steps_are_counted_and_few_are_stored(loops, monkeypatch):
    monkeypatch.setattr("rocm3d_hook_loops.MAX_STEPS", 1000)
    loops.begin("a")
    for _ in range(1500):
        loops.step("a")

    summary = loops.summary()["a"]
    assert summary["count"] == 1500
    assert (len(summary["points"]), summary["every"]) == (200, 5)


def test_points_reach_from_the_first_step_to_the_last(loops):
    loops.begin("a")
    for _ in range(250):
        loops.step("a")

    summary = loops.summary()["a"]
    assert (len(summary["points"]), summary["every"]) == (125, 2)


def test_a_progress_bar_gives_the_same_items_and_is_counted(loops):
    class tqdm:  # noqa: N801
        def __iter__(self):
            yield from "abc"

    loops.watch_bars(types.SimpleNamespace(tqdm=tqdm))

    assert list(tqdm()) == ["a", "b", "c"]
    assert loops.summary()["progress bar"]["count"] == 3


def test_a_torch_without_the_hook_is_left_alone(loops):
    loops.watch_optimizers()

    assert loops.summary() == {}
