"""Which modes fit, how many jobs at once, and the advice when none fits."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.port import MemoryNeed
from rocm3d.model.source import Source
from rocm3d.plan.card_facts import (
    HEADROOM,
    JOBS_RULE,
    NOT_MEASURED,
    SHARED_MEMORY,
    concurrent_jobs,
    fit_modes,
    memory_notes,
    offload_advice,
)

SIZES = st.integers(1, 4000).map(lambda tenths: tenths / 10)


def mode(name, gb, **fields):
    return MemoryNeed(mode=name, gb=gb, known=date(2025, 1, 1), source=Source(where="a README"), **fields)


HUNYUAN = (mode("shape", 10), mode("texture", 21), mode("shape and texture", 29))


def test_without_a_figure_only_a_note():
    assert fit_modes((), 24) == ()
    assert memory_notes((), 24, 1) == (NOT_MEASURED,)
    assert offload_advice((), 24) == ()


def test_shared_memory_has_no_verdict_but_a_note():
    modes = fit_modes(HUNYUAN, None)

    assert {(entry.fits, entry.jobs, entry.tight) for entry in modes} == {(None, None, False)}
    assert memory_notes(modes, None, 1) == (SHARED_MEMORY,)
    assert "system's memory" in SHARED_MEMORY
    assert offload_advice(modes, None) == ()


@pytest.mark.parametrize(
    ("need", "gb", "often"),
    [(24.1, 24, 0), (24, 24, 1), (21.7, 24, 1), (21.6, 24, 1), (10.8, 24, 2), (10.9, 24, 1), (16, 192, 10), (3, 10, 3)],
)
def test_jobs_leave_headroom_except_a_single_job(need, gb, often):
    assert concurrent_jobs(need, gb) == often


@given(SIZES, SIZES)
def test_jobs_never_take_more_than_there_is(need, gb):
    often = concurrent_jobs(need, gb)

    assert (often > 0) == (need <= gb)
    assert often <= 1 or often * need <= float(HEADROOM) * gb + 1e-6


def test_only_what_fits_without_headroom_is_tight():
    assert [entry.tight for entry in fit_modes((mode("a", 21.6), mode("b", 21.7), mode("c", 24.1)), 24)] == [
        False,
        True,
        False,
    ]


def test_each_mode_keeps_its_source_and_date():
    (entry,) = fit_modes((mode("a", 3.4, offload=True),), 8)

    assert (entry.source, entry.known, entry.offload) == ("a README", date(2025, 1, 1), True)


def test_a_16_gb_card_lists_the_modes_that_do_not_fit():
    modes = fit_modes(HUNYUAN, 16)

    assert [entry.fits for entry in modes] == [True, False, False]
    assert offload_advice(modes, 16) == (
        "does not fit in 16 GB: texture (21 GB), shape and texture (29 GB); fits: shape (10 GB)",
    )


def test_nothing_that_fits_names_the_smallest():
    assert offload_advice(fit_modes(HUNYUAN, 8), 8) == ("no known mode fits in 8 GB; shape needs the least, 10 GB",)


def test_all_that_fits_needs_no_offload():
    (line,) = offload_advice(fit_modes(HUNYUAN, 192), 192)

    assert "no offloading needed" in line


def test_offload_that_fits_is_slower():
    lines = offload_advice(fit_modes((mode("whole", 24), mode("cascade", 3.4, offload=True)), 8), 8)

    assert "whole (24 GB)" in lines[0]
    assert lines[1].startswith("cascade keeps part of the weights in system memory: slower")


def test_notes_have_the_rule_and_the_number_of_devices():
    modes = fit_modes(HUNYUAN, 64)

    assert memory_notes(modes, 64, 1) == (JOBS_RULE,)
    assert "90%" in JOBS_RULE
    assert memory_notes(modes, 64, 2) == (
        "a program sees this card as 2 devices of 64 GB each; a mode must fit into one",
        JOBS_RULE,
    )
