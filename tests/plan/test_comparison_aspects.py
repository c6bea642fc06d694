"""Rows of the card comparison; unknown values give no card an advantage."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from rocm3d.model.card import Cloud, Price
from rocm3d.model.source import Source
from rocm3d.plan.card_facts import facts_of_card
from rocm3d.plan.comparison import UNKNOWN, aspects, date_with_age

TODAY = date(2026, 11, 15)
SOURCE = Source(where="a price list")


@pytest.fixture
def amd(make):
    facts = facts_of_card(make.card("gpu", 192, bandwidth_gbs=5300.0, bf16=True, watts=750))
    own = {"vendor": "amd", "fp8": "fnuz", "matrix": "mfma", "title": "MI", "target": "gfx942"}

    return lambda **fields: facts.model_copy(update={**own, **fields})


@pytest.fixture
def rival(make):
    facts = facts_of_card(make.card("h100", 80, bandwidth_gbs=3350.0, bf16=True, watts=700))

    def card(**fields):
        return facts.model_copy(update=fields)

    return card


def row(name, gpu, *others):
    return next(entry for entry in aspects(gpu, others, TODAY) if entry.name == name)


def price(kind, low, high, **fields):
    arguments = {"currency": "USD", "known": date(2026, 11, 1), "source": SOURCE, **fields}
    return Price(way=kind, low=low, high=high, **arguments)


def cloud(available):
    return Cloud(available=available, where="somewhere", known=date(2026, 11, 1), source=SOURCE)


def test_unknown_values_are_shown_and_give_no_advantage(amd, rival):
    gpu = amd(bandwidth_gbs=None, bf16=None, watts=None)

    for name in ("bandwidth", "bf16", "board power", "cloud"):
        result = row(name, gpu, rival())
        assert (result.rocm, result.leads, result.says) == (UNKNOWN, ("unknown",), ("",)), name
    assert row("price to buy", gpu, rival()).rocm == "no known price"
    assert row("price to rent", gpu, rival()).cuda == ("no known price",)


def test_no_card_to_compare_with_leaves_the_values(amd):
    result = row("memory", amd())

    assert (result.rocm, result.cuda, result.leads, result.says) == ("192 GB HBM3", (), (), ())


def test_memory_and_bandwidth_as_a_ratio_in_both_directions(amd, rival):
    result = row("memory", amd(), rival(), rival(memory_gb=200.0), rival(memory_gb=400.0, title="BIG"))

    assert result.leads == ("gpu", "even", "rival")
    assert result.says[0] == "MI has 2.4 times the memory of H100"
    assert result.says[2] == "BIG has 2.1 times the memory of MI"
    assert row("bandwidth", amd(), rival()).says == ("MI has 1.6 times the bandwidth of H100",)


def test_memory_of_the_system_and_of_two_devices(amd, rival):
    shared = row("memory", amd(memory_gb=None, unified=True), rival(unified=True))
    several = row("memory", amd(devices=2, memory_gb=64.0), rival())

    assert (shared.rocm, shared.cuda) == (
        "the system's HBM3 memory",
        ("80 GB HBM3, shared with the CPU",),
    )
    assert shared.leads == ("unknown",)
    assert several.rocm == "64 GB HBM3 on each of 2 devices"
    assert row("bandwidth", amd(devices=2), rival()).rocm == "5300 GB/s per device"


@pytest.mark.parametrize(
    ("ours", "theirs", "lead", "text"),
    [
        ("fnuz", "ocp", "even", "converted"),
        ("ocp", "ocp", "even", "same"),
        ("none", "none", "even", "either"),
        ("none", "ocp", "rival", "H100 only"),
        ("fnuz", "none", "gpu", "MI only"),
    ],
)
def test_fp8_by_its_kind(amd, rival, ours, theirs, lead, text):
    result = row("fp8", amd(fp8=ours), rival(fp8=theirs))

    assert result.leads == (lead,)
    assert text in result.says[0]


@pytest.mark.parametrize(
    ("ours", "theirs", "lead"),
    [(True, True, "even"), (False, False, "even"), (True, False, "gpu"), (False, True, "rival")],
)
def test_bf16(amd, rival, ours, theirs, lead):
    assert row("bf16", amd(bf16=ours), rival(bf16=theirs)).leads == (lead,)


@pytest.mark.parametrize(
    ("ours", "theirs", "lead", "text"),
    [
        ("mfma", "tensor", "even", "kernels"),
        ("none", "tensor", "rival", "MI has no"),
        ("wmma", "none", "gpu", "H100 has no"),
        ("none", "none", "even", ""),
    ],
)
def test_matrix_instructions(amd, rival, ours, theirs, lead, text):
    result = row("matrix instructions", amd(matrix=ours), rival(matrix=theirs))

    assert result.leads == (lead,)
    assert text in result.says[0]


def test_power_is_shown_without_a_verdict(amd, rival):
    result = row("board power", amd(), rival())

    assert (result.rocm, result.cuda, result.leads) == ("750 W", ("700 W",), ("unknown",))


def test_disjoint_prices_have_a_cheaper_side_with_dates(amd, rival):
    gpu, other = amd(prices=(price("rent", 1.5, 2),)), rival(prices=(price("rent", 2.58, 6.16),))

    assert row("price to rent", gpu, other).rocm == "USD 1.50 to 2.00 per hour (2026-11-01)"
    assert row("price to rent", gpu, other).says == ("MI is cheaper to rent than H100 (prices of 2026-11-01)",)
    assert row("price to rent", gpu, other).leads == ("gpu",)
    dear = amd(prices=(price("rent", 7, 8),))
    assert row("price to rent", dear, other).leads == ("rival",)


def test_overlapping_prices_have_no_cheaper_side(amd, rival):
    result = row("price to rent", amd(prices=(price("rent", 1.5, 6),)), rival(prices=(price("rent", 2.58, 6.16),)))

    assert result.leads == ("even",)
    assert "compare offers" in result.says[0]


@pytest.mark.parametrize("fields", [{"currency": "EUR"}, {"note": "a machine"}])
def test_prices_of_different_kind_are_not_compared(amd, rival, fields):
    result = row("price to buy", amd(prices=(price("buy", 1, 2),)), rival(prices=(price("buy", 8, 9, **fields),)))

    assert (result.leads, result.says) == (("unknown",), ("",))


def test_price_text_has_note_and_thousands_separator(amd, rival):
    gpu = amd(prices=(price("buy", 1999, 1999, note="a machine"), price("buy", 10000, 15000)))

    assert row("price to buy", gpu, rival()).rocm == (
        "USD 1,999, a machine (2026-11-01); USD 10,000 to 15,000 (2026-11-01)"
    )


def test_an_old_figure_is_called_old():
    assert date_with_age(TODAY - timedelta(days=180), TODAY) == "2026-05-19"
    assert date_with_age(TODAY - timedelta(days=181), TODAY) == "2026-05-18, old"


@pytest.mark.parametrize(
    ("ours", "theirs", "lead"), [("rare", "yes", "rival"), ("yes", "no", "gpu"), ("rare", "rare", "even")]
)
def test_cloud(amd, rival, ours, theirs, lead):
    result = row("cloud", amd(cloud=cloud(ours)), rival(cloud=cloud(theirs)))

    assert result.leads == (lead,)
    assert result.cuda[0].endswith("somewhere (2026-11-01)")
