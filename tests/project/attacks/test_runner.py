"""Cases in several processes: counts, results that are stored, and the ends of a run."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace

import pytest
from attacks import runner
from attacks.cases import BrokenPromiseError, NotRunError


def run_number(case, shared):
    case.label = f"case {case.number}"
    if case.number == shared != 4:
        raise BrokenPromiseError("lost")
    if case.number == 4 and shared == 4:
        raise KeyError("a mistake of the attack")
    if case.number == 3:
        raise NotRunError("no mounts")


ATTACK = SimpleNamespace(
    NAME="made-up", COUNT=5, PROMISE="nothing is lost", prepare=lambda folder: 1, total=lambda shared, count: count,
    run=run_number,
)  # fmt: skip


@pytest.fixture
def settings(tmp_path):
    def make(**changes):
        values = {"folder": tmp_path, "seed": 1, "processes": 2, "deadline": time.monotonic() + 600, "resume": False}
        return runner.Settings(**(values | changes))

    return make


def test_broken_promise_and_missing_mount_are_counted(settings, tmp_path):
    shown = []

    summary = runner.run_attack(ATTACK, 5, settings(), shown.append)

    assert (summary.requested, summary.run, summary.broken, summary.not_run) == (5, 4, 1, 1)
    assert summary.reasons == ["no mounts"]
    assert shown == ["BROKEN made-up 1: case 1: lost"]
    assert (tmp_path / "broken" / "made-up-1").is_dir()
    assert not list((tmp_path / "work" / "made-up").iterdir())


def test_no_case_starts_after_the_deadline(settings):
    summary = runner.run_attack(ATTACK, 5, settings(deadline=time.monotonic()), print)

    assert (summary.requested, summary.run) == (5, 0)


def test_stored_results_are_not_run_again(settings, tmp_path):
    runner.run_attack(ATTACK, 2, settings(), print)
    store = tmp_path / "made-up.jsonl"

    summary = runner.run_attack(ATTACK, 5, settings(resume=True), print)

    assert (summary.run, summary.broken, summary.not_run) == (4, 1, 1)
    assert sorted(json.loads(line)["number"] for line in store.read_text().splitlines()) == [0, 1, 2, 3, 4]


def test_preparation_that_fails_is_not_a_success(settings):
    def prepare(folder):
        raise NotRunError("no corpus")

    summary = runner.run_attack(SimpleNamespace(**{**vars(ATTACK), "prepare": prepare}), 5, settings(), print)

    assert (summary.run, summary.not_run, summary.reasons) == (0, 5, ["no corpus"])


def test_mistake_of_an_attack_does_not_end_the_others(settings):
    shown = []
    attack = SimpleNamespace(**{**vars(ATTACK), "prepare": lambda folder: 4})

    summary = runner.run_attack(attack, 5, settings(), shown.append)

    assert (summary.run, summary.broken) == (4, 1)
    assert "KeyError('a mistake of the attack')" in shown[0]


def test_one_case_can_be_repeated(settings):
    assert runner.run_attack(ATTACK, 5, settings(number=1), print).broken == 1
