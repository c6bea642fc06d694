from __future__ import annotations

from typing import get_args

from rocm3d.model.verdict import Level, Verdict
from rocm3d.render.ladder import ASKS, SIGNS, rungs


def verdict(outcome: str, level: str = "static", reason: str = "why") -> Verdict:
    passed = outcome == "passed"
    return Verdict(level=level, probe="p", outcome=outcome, reason="" if passed else reason, looked_at=("a",) * passed)


def test_every_level_asks_something_and_is_there_without_any_check():
    found = rungs(())

    assert [item.level for item in found] == list(get_args(Level)) == list(ASKS)
    assert {(item.outcome, item.says) for item in found} == {("not_run", "not requested")}


def test_one_check_that_nobody_made_leaves_the_question_open():
    (first, *_) = rungs((verdict("passed"), verdict("not_run", reason="no compiler")))

    assert (first.outcome, first.says) == ("not_run", "1 passed, then: no compiler")


def test_one_failed_check_is_the_answer():
    (first, *_) = rungs((verdict("passed"), verdict("not_run"), verdict("failed", reason="leaks")))

    assert (first.outcome, first.word, first.sign) == ("failed", "failed", SIGNS["failed"])
    assert first.says == "1 passed, then: leaks"


def test_skipped_is_never_better_than_what_was_looked_at():
    assert rungs((verdict("passed"), verdict("skipped")))[0].outcome == "passed"
    assert rungs((verdict("skipped"),))[0].outcome == "skipped"


def test_the_same_reason_is_said_once():
    assert rungs((verdict("not_run"), verdict("not_run")))[0].says == "why"
    assert rungs((verdict("passed"), verdict("passed")))[0].says == "2 checks"
