from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.evidence.verdict_merge import STALE, as_of, merge_verdicts, with_tree
from rocm3d.model.task import PortTask
from rocm3d.model.verdict import Verdict, Verdicts
from rocm3d.verify.stage import LEVELS


def verdict(level, outcome="passed", target="", subject="", tree="now", **values) -> Verdict:
    checked = ("x",) if outcome == "passed" else ()
    fields = {"probe": "p", "reason": "" if outcome == "passed" else f"why {level}", "looked_at": checked, **values}
    return Verdict(level=level, outcome=outcome, target=target, subject=subject, tree=tree, **fields)


def document(*verdicts, targets=("gfx942", "gfx1100")) -> Verdicts:
    return Verdicts(repository="r", targets=targets, verdicts=verdicts)


def merged(stored, new, levels=LEVELS) -> tuple[Verdict, ...]:
    return merge_verdicts(document(*stored), document(*new), levels).verdicts


def test_the_first_check_is_stored_as_it_is():
    new = document(verdict("static"))

    assert merge_verdicts(None, new, LEVELS) == new


def test_a_named_level_is_replaced_and_the_others_stay():
    static, earlier, later = verdict("static"), verdict("compile"), verdict("compile", "failed")

    assert merged([static, earlier], [later], ["compile"]) == (static, later)


def test_a_named_level_that_could_not_be_checked_is_replaced_too():
    not_run = verdict("compile", "not_run", reason="no toolchain")

    assert merged([verdict("compile")], [not_run], ["compile"]) == (not_run,)


def test_a_level_that_was_not_named_keeps_its_result_if_nothing_could_be_checked():
    compiled = verdict("compile", target="gfx942", subject="a.cu")
    static = verdict("static")

    assert merged([static, compiled], [static, verdict("compile", "not_run")]) == (static, compiled)


def test_without_an_earlier_result_the_newer_reason_counts():
    earlier, later = verdict("import", "not_run", reason="old"), verdict("import", "not_run", reason="new")

    assert merged([earlier], [later]) == (later,)


def test_other_targets_of_the_same_files_stay():
    other = verdict("compile", target="gfx1201", subject="a.cu")
    same = verdict("compile", target="gfx942", subject="gone.cu")
    host = verdict("compile", target="host", subject="a.cu")
    new = [verdict("compile", target="gfx942", subject="a.cu"), host]

    assert merged([other, same, host], new, ["compile"]) == (other, *new)


def test_other_targets_of_other_files_are_removed():
    other = verdict("compile", target="gfx1201", subject="a.cu", tree="before")
    new = [verdict("compile", target="gfx942", subject="a.cu")]

    assert merged([other], new, ["compile"]) == tuple(new)


@pytest.mark.parametrize(
    ("levels", "targets"), [(["compile"], ("gfx1201", "gfx942")), (["static"], ("gfx942", "gfx1100"))]
)
def test_targets_are_those_of_the_last_compilation_and_of_what_stays(levels, targets):
    stored = document(verdict("compile", target="gfx942"), targets=("gfx942", "gfx1100"))
    new = document(*(verdict(level) for level in levels), targets=("gfx1201",))

    assert merge_verdicts(stored, new, levels).targets == targets


def test_the_digest_of_the_files_is_set_on_every_verdict():
    assert {item.tree for item in with_tree(document(verdict("static"), verdict("compile")), "t").verdicts} == {"t"}


def test_a_verdict_of_other_files_is_not_run_and_has_no_tasks():
    task = PortTask(path="a.cu", reason="r", action="a")
    before = document(verdict("compile", "failed", tree="before", tasks=(task,)), verdict("static"))

    stale, current = as_of(before, "now").verdicts

    assert (stale.outcome, stale.reason, stale.looked_at, stale.tasks) == ("not_run", STALE, (), ())
    assert current == before.verdicts[1]


def test_a_reason_why_nothing_was_run_is_not_replaced():
    before = document(verdict("import", "not_run", tree="before", reason="no interpreter"))

    assert as_of(before, "now").verdicts[0].reason == "no interpreter"


VERDICTS = st.builds(
    verdict,
    st.sampled_from(LEVELS),
    st.sampled_from(["passed", "failed", "not_run", "skipped"]),
    st.sampled_from(["", "host", "gfx942", "gfx1100", "gfx1201"]),
    st.sampled_from(["", "a.cu", "b.cu"]),
    st.sampled_from(["now", "before"]),
)


@given(st.lists(VERDICTS), st.lists(VERDICTS), st.sets(st.sampled_from(LEVELS)), st.randoms())
def test_levels_that_were_not_checked_never_change_and_merging_twice_changes_nothing(stored, new, levels, shuffle):
    new = [item.model_copy(update={"tree": "now"}) for item in new if item.level in levels]
    once = merge_verdicts(document(*stored), document(*new), levels)
    random.Random(0).shuffle(stored)

    assert [item for item in once.verdicts if item.level not in levels and item.tree] == sorted(
        (item for item in once.verdicts if item.level not in levels), key=lambda item: LEVELS.index(item.level)
    )
    assert {item for item in stored if item.level not in levels} <= set(once.verdicts)
    if levels != set(LEVELS):
        assert set(new) <= set(once.verdicts)
        assert merge_verdicts(once, document(*new), levels) == once
