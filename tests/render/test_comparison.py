"""Table and lists are the same for every format; only names contain text of a repository."""

from __future__ import annotations

import pytest

from rocm3d.model.fit import FitMemory
from rocm3d.render.comparison import card_notes, header, heading, memory_text, pros_and_costs, source_lines, table_rows


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"fits": None}, "depends on the system's memory"),
        ({"fits": False, "jobs": 0}, "does not fit"),
        ({"fits": True, "jobs": 1}, "fits, 1 job at once"),
        ({"fits": True, "jobs": 10}, "fits, 10 jobs at once"),
        ({"fits": True, "jobs": 1, "tight": True}, "fits, 1 job at once, but barely"),
    ],
)
def test_a_mode_in_words(options, expected):
    assert memory_text(FitMemory(mode="m", gb=1, **options)) == expected


def test_every_row_is_as_wide_as_the_header(make):
    comparison = make.fit().comparison

    assert {len(row) for row in table_rows(comparison)} == {len(header(comparison))}


def test_no_card_to_compare_with_is_reported(make):
    comparison = make.fit().comparison.model_copy(update={"against": ()})

    assert heading(comparison) == "AMD Instinct MI300X compared with no known NVIDIA card"


def test_modes_and_aspects_are_rows(make):
    result = {row[0]: row for row in table_rows(make.fit().comparison)}

    assert result["memory"][1:3] == ("192 GB HBM3", "80 GB HBM3")
    assert result["whole, 100 GB"][1:3] == ("fits, 1 job at once", "does not fit")


def test_what_speaks_for_it_comes_before_what_it_costs(make):
    (choice,) = (entry for entry in make.fit().comparison.choices if entry.platform == "ROCm")

    lines = list(pros_and_costs(choice))
    assert [line.split(":")[0] for line in lines] == ["for"] * len(choice.reasons) + ["cost"] * len(choice.costs)


def test_every_card_has_its_sources_once_with_those_of_its_prices(make):
    amd, other = source_lines(make.fit().comparison)

    assert amd.startswith("AMD Instinct MI300X: checked 2026-11-01, reported; a/b@c")
    assert amd.endswith("the record of gfx942")
    assert other == "H100: checked 2026-11-01, reported; a/b@c; a price list"


def test_notes_bear_the_name_of_their_card(make):
    assert list(card_notes(make.fit().comparison)) == ["H100: a note"]
