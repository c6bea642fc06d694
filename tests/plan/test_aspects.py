"""Rows of the card comparison; unknown values give no card an advantage."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from rocm3d.model.card import Cloud, Price
from rocm3d.model.source import Source
from rocm3d.plan.aspects import UNKNOWN, aspects, dated
from rocm3d.plan.card_facts import facts_of_card

TODAY = date(2026, 11, 15)
SOURCE = Source(where="a price list")


@pytest.fixture
def amd(make):
    facts = facts_of_card(make.card("gpu", 192, bandwidth_gbs=5300.0, bf16=True, watts=750))
    own = {"vendor": "amd", "fp8": "fnuz", "matrix": "mfma", "title": "MI", "target": "gfx942"}

    return lambda **rest: facts.model_copy(update={**own, **rest})


@pytest.fixture
def rival(make):
    facts = facts_of_card(make.card("h100", 80, bandwidth_gbs=3350.0, bf16=True, watts=700))

    def card(**rest):
        return facts.model_copy(update=rest)

    return card


def row(name, gpu, *others):
    return next(item for item in aspects(gpu, others, TODAY) if item.name == name)


def price(way, low, high, **rest):
    given = {"currency": "USD", "known": date(2026, 11, 1), "source": SOURCE, **rest}
    return Price(way=way, low=low, high=high, **given)


def cloud(available):
    return Cloud(available=available, where="somewhere", known=date(2026, 11, 1), source=SOURCE)


def test_what_is_not_on_record_is_said_so_and_leads_nowhere(amd, rival):
    gpu = amd(bandwidth_gbs=None, bf16=None, watts=None)

    for name in ("bandwidth", "bf16", "board power", "cloud"):
        found = row(name, gpu, rival())
        assert (found.rocm, found.leads, found.says) == (UNKNOWN, ("unknown",), ("",)), name
    assert row("price to buy", gpu, rival()).rocm == "no known price"
    assert row("price to rent", gpu, rival()).cuda == ("no known price",)


def test_no_card_to_compare_with_leaves_the_values(amd):
    found = row("memory", amd())

    assert (found.rocm, found.cuda, found.leads, found.says) == ("192 GB HBM3", (), (), ())


def test_memory_and_bandwidth_as_a_ratio_both_ways(amd, rival):
    found = row("memory", amd(), rival(), rival(memory_gb=200.0), rival(memory_gb=400.0, title="BIG"))

    assert found.leads == ("gpu", "even", "rival")
    assert found.says[0] == "MI has 2.4 times the memory of H100"
    assert found.says[2] == "BIG has 2.1 times the memory of MI"
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
    ("ours", "theirs", "lead", "word"),
    [
        ("fnuz", "ocp", "even", "converted"),
        ("ocp", "ocp", "even", "same"),
        ("none", "none", "even", "either"),
        ("none", "ocp", "rival", "H100 only"),
        ("fnuz", "none", "gpu", "MI only"),
    ],
)
def test_fp8_by_its_kind(amd, rival, ours, theirs, lead, word):
    found = row("fp8", amd(fp8=ours), rival(fp8=theirs))

    assert found.leads == (lead,)
    assert word in found.says[0]


@pytest.mark.parametrize(
    ("ours", "theirs", "lead"),
    [(True, True, "even"), (False, False, "even"), (True, False, "gpu"), (False, True, "rival")],
)
def test_bf16(amd, rival, ours, theirs, lead):
    assert row("bf16", amd(bf16=ours), rival(bf16=theirs)).leads == (lead,)


@pytest.mark.parametrize(
    ("ours", "theirs", "lead", "word"),
    [
        ("mfma", "tensor", "even", "kernels"),
        ("none", "tensor", "rival", "MI has no"),
        ("wmma", "none", "gpu", "H100 has no"),
        ("none", "none", "even", ""),
    ],
)
def test_matrix_instructions(amd, rival, ours, theirs, lead, word):
    found = row("matrix instructions", amd(matrix=ours), rival(matrix=theirs))

    assert found.leads == (lead,)
    assert word in found.says[0]


def test_power_is_shown_and_not_judged(amd, rival):
    found = row("board power", amd(), rival())

    assert (found.rocm, found.cuda, found.leads) == ("750 W", ("700 W",), ("unknown",))


def test_prices_that_do_not_touch_have_a_cheaper_side_with_dates(amd, rival):
    gpu, other = amd(prices=(price("rent", 1.5, 2),)), rival(prices=(price("rent", 2.58, 6.16),))

    assert row("price to rent", gpu, other).rocm == "USD 1.50 to 2.00 per hour (2026-11-01)"
    assert row("price to rent", gpu, other).says == ("MI is cheaper to rent than H100 (prices of 2026-11-01)",)
    assert row("price to rent", gpu, other).leads == ("gpu",)
    dear = amd(prices=(price("rent", 7, 8),))
    assert row("price to rent", dear, other).leads == ("rival",)


def test_prices_that_touch_have_none(amd, rival):
    found = row("price to rent", amd(prices=(price("rent", 1.5, 6),)), rival(prices=(price("rent", 2.58, 6.16),)))

    assert found.leads == ("even",)
    assert "compare offers" in found.says[0]


@pytest.mark.parametrize("rest", [{"currency": "EUR"}, {"note": "a machine"}])
def test_prices_of_different_kind_are_not_compared(amd, rival, rest):
    found = row("price to buy", amd(prices=(price("buy", 1, 2),)), rival(prices=(price("buy", 8, 9, **rest),)))

    assert (found.leads, found.says) == (("unknown",), ("",))


def test_a_price_tells_its_note_and_thousands(amd, rival):
    gpu = amd(prices=(price("buy", 1999, 1999, note="a machine"), price("buy", 10000, 15000)))

    assert row("price to buy", gpu, rival()).rocm == (
        "USD 1,999, a machine (2026-11-01); USD 10,000 to 15,000 (2026-11-01)"
    )


def test_an_old_figure_is_called_old():
    assert dated(TODAY - timedelta(days=180), TODAY) == "2026-05-19"
    assert dated(TODAY - timedelta(days=181), TODAY) == "2026-05-18, old"


@pytest.mark.parametrize(
    ("ours", "theirs", "lead"), [("rare", "yes", "rival"), ("yes", "no", "gpu"), ("rare", "rare", "even")]
)
def test_cloud(amd, rival, ours, theirs, lead):
    found = row("cloud", amd(cloud=cloud(ours)), rival(cloud=cloud(theirs)))

    assert found.leads == (lead,)
    assert found.cuda[0].endswith("somewhere (2026-11-01)")
