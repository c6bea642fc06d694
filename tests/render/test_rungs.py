from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.port_state import RUNGS
from rocm3d.render.rungs import (
    NOTHING_LEFT,
    current_rung,
    headline,
    left_line,
    next_line,
    rung_detail,
    rung_line,
    rung_sign,
    rung_word,
    state_lines,
    tone,
)

BENT = "a\u202e\x1b[31m\nb"


def test_all_rungs_are_one_line_without_text_of_the_repository(make):
    hostile = make.rung(name="scanned", outcome="partial", done=3, total=4, open_items=(BENT,), reason=BENT)
    line = rung_line(make.state(scanned=hostile, compiled=make.rung(name="compiled", outcome="failed", reason=BENT)))

    assert line == (
        "scanned 3 of 4, planned ok, edited 1 of 1, resolved 1 of 1, compiled failed, imported 1 of 1, ran 1 of 1, "
        "judged 1 of 1"
    )


@pytest.mark.parametrize(
    ("outcome", "word"),
    [("partial", "1 of 2"), ("failed", "failed"), ("not_run", "not run"), ("not_applicable", "does not apply")],
)
def test_each_outcome_has_a_word_and_a_sign(make, outcome, word):
    rung = make.rung(name="compiled", outcome=outcome, done=1, total=2, reason="r")

    assert rung_word(rung) == word
    assert len(rung_sign(rung)) == 1
    assert rung_word(make.rung(name="edited", outcome="complete")) == "ok"


def test_details_are_cleaned_and_short(make):
    items = tuple(f"f{number}" for number in range(6))
    rung = make.rung(name="edited", outcome="partial", total=6, open_items=items, reason=BENT)

    assert rung_detail(rung).endswith(" (f0, f1, f2, f3 and 2 more)")
    assert rung_detail(rung).isprintable()
    assert len(rung_detail(make.rung(name="edited", outcome="failed", reason="x" * 999))) < 500


def test_what_is_left_for_a_person_is_one_line(make):
    assert left_line(make.state()) == ""
    assert left_line(make.state(tasks=1, blocked=("b",), stubs=("s",))) == (
        "1 task for a person; no route: b; stub or substitute, never verified: s"
    )


def test_the_next_command_is_the_last_line(make):
    open_rung = make.rung(name="ran", outcome="not_run", reason="r", next="rocm3d run -- CMD ...")
    without_gpu = make.state(ran=open_rung).model_copy(update={"next": ""})

    assert next_line(make.state(ran=open_rung)) == "next: rocm3d run -- CMD ..."
    assert next_line(without_gpu) == (
        f"next: {NOTHING_LEFT}; on a machine with the GPU of the plan: rocm3d run -- CMD ..."
    )
    assert next_line(make.state()) == "next: nothing, every rung is complete"
    assert next_line(make.state(blocked=("b",))) == f"next: {NOTHING_LEFT}"
    assert list(state_lines(make.state(ran=open_rung)))[-1] == "next: rocm3d run -- CMD ..."


def test_a_later_failure_is_not_hidden_by_the_first_open_rung(make):
    resolved = make.rung(name="resolved", outcome="not_run", reason="no network.")
    compiled = make.rung(name="compiled", outcome="failed", reason="a.cu")
    state = make.state(resolved=resolved, compiled=compiled)

    assert headline(state) == "Resolved not run: no network. Compiled failed: a.cu."
    assert current_rung(state) == "resolved not run, compiled failed"
    assert [line for line in state_lines(state) if line.startswith("  ")] == [
        "  resolved: no network.",
        "  compiled: a.cu",
    ]


def test_only_a_port_with_nothing_open_is_green(make):
    assert tone(make.state()) == "passed"
    assert current_rung(make.state()) == "every rung complete"
    for values in ({"tasks": 1}, {"stubs": ("s",)}):
        assert tone(make.state(**values)) == "not_run"
    assert tone(make.state(blocked=("b",))) == "failed"


@given(st.sampled_from(RUNGS), st.sampled_from(["partial", "failed", "not_run"]))
def test_any_open_rung_is_not_green(make, name, outcome):
    rung = make.rung(name=name, outcome=outcome, reason="r")

    assert tone(make.state(**{name: rung})) != "passed"
    assert headline(make.state(**{name: rung})).startswith(name.capitalize())
