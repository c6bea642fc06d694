from __future__ import annotations

from typing import get_args

from rocm3d.model.verdict import Level, Verdict
from rocm3d.render.grouping import LEVEL_QUESTIONS, OUTCOME_SIGNS, level_summaries


def verdict(outcome: str, level: str = "static", reason: str = "why") -> Verdict:
    passed = outcome == "passed"
    return Verdict(level=level, probe="p", outcome=outcome, reason="" if passed else reason, looked_at=("a",) * passed)


def test_every_level_has_a_question_and_is_listed_without_checks():
    result = level_summaries(())

    assert [entry.level for entry in result] == list(get_args(Level)) == list(LEVEL_QUESTIONS)
    assert {(entry.outcome, entry.says) for entry in result} == {("not_run", "not requested")}


def test_one_check_that_nobody_made_leaves_the_question_open():
    (first, *_) = level_summaries((verdict("passed"), verdict("not_run", reason="no compiler")))

    assert (first.outcome, first.says) == ("not_run", "1 passed, then: no compiler")


def test_one_failed_check_is_the_answer():
    (first, *_) = level_summaries((verdict("passed"), verdict("not_run"), verdict("failed", reason="leaks")))

    assert (first.outcome, first.word, first.sign) == ("failed", "failed", OUTCOME_SIGNS["failed"])
    assert first.says == "1 passed, then: leaks"


def test_skipped_is_never_better_than_what_was_checked():
    assert level_summaries((verdict("passed"), verdict("skipped")))[0].outcome == "passed"
    assert level_summaries((verdict("skipped"),))[0].outcome == "skipped"


def test_the_same_reason_is_listed_once():
    assert level_summaries((verdict("not_run"), verdict("not_run")))[0].says == "why"
    assert level_summaries((verdict("passed"), verdict("passed")))[0].says == "2 checks"
