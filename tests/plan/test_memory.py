"""Which modes fit, how many jobs at once, and the advice when none fits."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.port import MemoryNeed
from rocm3d.model.source import Source
from rocm3d.plan.memory import HEADROOM, NOT_MEASURED, RULE, SHARED, fitted, jobs, notes, offload

SIZES = st.integers(1, 4000).map(lambda tenths: tenths / 10)


def mode(name, gb, **rest):
    return MemoryNeed(mode=name, gb=gb, known=date(2025, 1, 1), source=Source(where="a README"), **rest)


HUNYUAN = (mode("shape", 10), mode("texture", 21), mode("shape and texture", 29))


def test_without_a_figure_nothing_is_said_to_fit():
    assert fitted((), 24) == ()
    assert notes((), 24, 1) == (NOT_MEASURED,)
    assert offload((), 24) == ()


def test_shared_memory_is_not_judged_and_said_to_depend_on_the_system():
    modes = fitted(HUNYUAN, None)

    assert {(item.fits, item.jobs, item.tight) for item in modes} == {(None, None, False)}
    assert notes(modes, None, 1) == (SHARED,)
    assert "system's memory" in SHARED
    assert offload(modes, None) == ()


@pytest.mark.parametrize(
    ("need", "gb", "often"),
    [(24.1, 24, 0), (24, 24, 1), (21.7, 24, 1), (21.6, 24, 1), (10.8, 24, 2), (10.9, 24, 1), (16, 192, 10), (3, 10, 3)],
)
def test_jobs_leave_the_headroom_free_but_one_may_take_all(need, gb, often):
    assert jobs(need, gb) == often


@given(SIZES, SIZES)
def test_jobs_never_take_more_than_there_is(need, gb):
    often = jobs(need, gb)

    assert (often > 0) == (need <= gb)
    assert often <= 1 or often * need <= float(HEADROOM) * gb + 1e-6


def test_only_what_fits_without_headroom_is_tight():
    assert [item.tight for item in fitted((mode("a", 21.6), mode("b", 21.7), mode("c", 24.1)), 24)] == [
        False,
        True,
        False,
    ]


def test_each_mode_keeps_its_source_and_date():
    (item,) = fitted((mode("a", 3.4, offload=True),), 8)

    assert (item.source, item.known, item.offload) == ("a README", date(2025, 1, 1), True)


def test_a_16_gb_card_says_mode_by_mode_what_does_not_fit():
    modes = fitted(HUNYUAN, 16)

    assert [item.fits for item in modes] == [True, False, False]
    assert offload(modes, 16) == (
        "does not fit in 16 GB: texture (21 GB), shape and texture (29 GB); fits: shape (10 GB)",
    )


def test_nothing_that_fits_names_the_smallest():
    assert offload(fitted(HUNYUAN, 8), 8) == ("no known mode fits in 8 GB; shape needs the least, 10 GB",)


def test_all_that_fits_needs_no_offload():
    (line,) = offload(fitted(HUNYUAN, 192), 192)

    assert "no offloading needed" in line


def test_offload_that_fits_is_said_to_be_slower():
    lines = offload(fitted((mode("whole", 24), mode("cascade", 3.4, offload=True)), 8), 8)

    assert "whole (24 GB)" in lines[0]
    assert lines[1].startswith("cascade keeps part of the weights in system memory: slower")


def test_the_rule_is_told_and_so_is_a_card_of_two_devices():
    modes = fitted(HUNYUAN, 64)

    assert notes(modes, 64, 1) == (RULE,)
    assert "90%" in RULE
    assert notes(modes, 64, 2) == (
        "a program sees this card as 2 devices of 64 GB each; a mode must fit into one",
        RULE,
    )
