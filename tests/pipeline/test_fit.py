"""Results of fit for known repositories, with the shipped records."""

from __future__ import annotations

from datetime import date

import pytest

from rocm3d.model.errors import UserError
from rocm3d.pipeline import fit_model

# The table of the workstation essay of 2025-10-17, for one RX 7900 XTX.
THEN = {
    "point-e": "High",
    "threestudio": "Very Low",
    "stable-zero123": "Very Low",
    "dreamgaussian": "High",
    "stable-dreamfusion": "Medium",
    "hyper3d": "Not viable",
    "hunyuan3d-2": "Medium-Low",
    "instantmesh": "Low",
}


def fit(knowledge, model, gpu="rx 7900 xtx", as_of=None, against=()):
    return fit_model(model, knowledge.gpu(gpu), knowledge, as_of, against)


def test_a_model_nobody_knows_is_refused(knowledge):
    with pytest.raises(UserError, match="neither a folder nor a known repository"):
        fit(knowledge, "no-such-thing")


@pytest.mark.parametrize(("model", "viability"), THEN.items())
def test_the_table_of_2025_10_17_is_reproduced(knowledge, model, viability):
    assert fit(knowledge, model, as_of=date(2025, 10, 17)).viability == viability


def test_a_later_date_shows_what_changed_and_why(knowledge):
    then, now = (fit(knowledge, "threestudio", as_of=day) for day in (date(2025, 10, 17), date(2026, 11, 14)))

    assert now.closed
    assert now.score > then.score
    assert all(point.why and point.source for point in (*now.points, *now.closed))


def test_parallel_jobs_follow_from_memory_and_the_rule_is_shown(knowledge):
    document = fit(knowledge, "trellis", "mi300x")

    assert {mode.mode: mode.jobs for mode in document.memory} == {"image to 3D": 10}
    assert any(note.startswith("jobs at once: ") for note in document.notes)


def test_an_apu_depends_on_the_systems_memory(knowledge):
    document = fit(knowledge, "trellis", "gfx1151")

    assert [(mode.fits, mode.jobs) for mode in document.memory] == [(None, None)]
    assert any("shares the system's memory" in note for note in document.notes)


def test_a_card_of_two_dies_counts_as_one(knowledge):
    document = fit(knowledge, "trellis", "mi250x")

    assert [mode.jobs for mode in document.memory] == [3]
    assert "2 devices of 64 GB" in document.notes[0]


@pytest.mark.parametrize(
    ("gpu", "cards"), [("rx 7900 xtx", ["rtx-3090", "rtx-4090"]), ("mi355x", ["b300"]), ("gfx1151", ["dgx-spark"])]
)
def test_default_is_the_nearest_nvidia_cards(knowledge, gpu, cards):
    assert [card.id for card in fit(knowledge, "point-e", gpu).comparison.against] == cards


def test_every_product_can_be_compared_and_no_cell_is_empty(knowledge):
    """On record or said not to be: for all AMD products, those without a card of their own too."""
    products = [product.id for target in knowledge.targets.values() for product in target.products]
    for product in products:
        comparison = fit(knowledge, "point-e", product, against=("h100",)).comparison
        assert all(cell for row in comparison.aspects for cell in (row.rocm, *row.cuda)), product
        assert comparison.gpu.sources, product


def test_mi300x_compared_with_h100(knowledge):
    rows = {row.name: row for row in fit(knowledge, "point-e", "mi300x", against=("h100",)).comparison.aspects}

    assert (rows["memory"].rocm, rows["memory"].cuda) == ("192 GB HBM3", ("80 GB HBM3",))
    assert rows["memory"].says == ("AMD Instinct MI300X has 2.4 times the memory of NVIDIA H100 SXM",)
    assert (rows["fp8"].rocm, rows["fp8"].cuda) == ("fnuz formats", ("OCP formats",))
    assert "USD" in rows["price to rent"].rocm
