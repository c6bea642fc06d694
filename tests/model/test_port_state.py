from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rocm3d.model.port_state import RUNGS, PortState, Rung


def make_state(*open_rungs, next_command="", **values) -> PortState:
    rungs = tuple(
        Rung(name=name, outcome="not_run", reason="r", next=next_command)
        if name in open_rungs
        else Rung(name=name, outcome="complete")
        for name in RUNGS
    )
    return PortState(rungs=rungs, next=next_command, **values)


@pytest.mark.parametrize(
    "values", [{"outcome": "complete", "done": 1, "total": 2}, {"outcome": "complete", "open_items": ("a",)},
               {"outcome": "partial"}]
)  # fmt: skip
def test_a_rung_that_contradicts_itself_is_refused(values):
    with pytest.raises(ValidationError):
        Rung(name="edited", **values)


def test_rungs_stand_in_their_order():
    with pytest.raises(ValidationError, match="the rungs are not"):
        PortState(rungs=tuple(reversed(make_state().rungs)))


def test_the_state_is_the_first_open_rung():
    assert make_state("compiled", "ran").current.name == "compiled"
    assert make_state().current is None


def test_resolved_counts_for_itself_and_for_bars_after_compiled():
    reached = [name for name in RUNGS if make_state("resolved").reaches(name)]

    assert reached == ["scanned", "planned", "edited", "compiled"]


def test_what_does_not_apply_is_not_open():
    rungs = [*make_state().rungs]
    rungs[4] = Rung(name="compiled", outcome="not_applicable", reason="no native code")

    assert PortState(rungs=tuple(rungs)).reaches("judged")


@pytest.mark.parametrize("values", [{"tasks": 1}, {"blocked": ("a",)}])
def test_tasks_and_blocked_packages_keep_a_port_below_the_bars_from_edited_on(values):
    reached = [name for name in RUNGS if make_state(**values).reaches(name)]

    assert reached == ["scanned", "planned"]
    assert not make_state(**values).is_complete


def test_a_stub_is_never_complete_but_holds_up_no_bar():
    assert make_state(stubs=("a",)).reaches("judged")
    assert not make_state(stubs=("a",)).is_complete


@given(st.sets(st.sampled_from(RUNGS)))
def test_a_bar_is_reached_only_if_the_rungs_below_it_are(open_rungs):
    state = make_state(*open_rungs)

    for until in RUNGS:
        below = set(RUNGS[: RUNGS.index(until) + 1])
        assert state.reaches(until) == (
            not open_rungs & below or (until == "compiled" and open_rungs & below == {"resolved"})
        )


@pytest.mark.parametrize(
    ("command", "path", "expected"),
    [
        ("rocm3d verify . --level compile", "/tmp/x", "rocm3d verify /tmp/x --level compile"),
        ("rocm3d verify . --level compile", ".", "rocm3d verify . --level compile"),
        ("rocm3d report . --format markdown", "'a b'", "rocm3d report 'a b' --format markdown"),
        ("rocm3d review .", "x", "rocm3d review x"),
        ("rocm3d run -- CMD ...", "x", "cd x && rocm3d run -- CMD ..."),
        ("git submodule update --init -- libs/knn", "x", "cd x && git submodule update --init -- libs/knn"),
        ("rocm3d toolchain prepare", "x", "rocm3d toolchain prepare"),
        ("", "x", ""),
    ],
)  # fmt: skip
def test_commands_for_a_user_in_another_folder(command, path, expected):
    state = make_state("ran", next_command=command).for_path(path)

    assert (state.next, state.rung("ran").next) == (expected, expected)


def test_commands_in_reasons_name_the_path_too():
    rungs = [*make_state().rungs]
    rungs[3] = Rung(name="resolved", outcome="not_run", reason="needs the network. Run rocm3d verify . --level resolve")

    reason = PortState(rungs=tuple(rungs)).for_path("x").rung("resolved").reason
    assert reason == "needs the network. Run rocm3d verify x --level resolve"
