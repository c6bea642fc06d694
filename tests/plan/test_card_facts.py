"""Facts of an AMD card come from its target and its own record; NVIDIA cards are chosen by memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from rocm3d.model.port import MemoryNeed
from rocm3d.model.source import Source
from rocm3d.plan.card_facts import devices_of, facts_of_card, facts_of_gpu, nearest_rivals


@pytest.fixture
def known(make):
    def with_cards(*cards):
        return replace(make.knowledge(), cards={card.id: card for card in cards})

    return with_cards


def test_without_a_card_only_the_facts_of_the_target_are_known(known):
    knowledge = known()
    facts = facts_of_gpu(knowledge.gpu("mi300x"), knowledge)

    assert (facts.memory_gb, facts.fp8, facts.matrix, facts.target) == (192, "fnuz", "mfma", "gfx942")
    assert (facts.bandwidth_gbs, facts.bf16, facts.watts, facts.cloud) == (None, None, None, None)
    assert facts.prices == ()
    assert facts.sources == knowledge.targets["gfx942"].sources


def test_a_gpu_without_dedicated_memory_shares_system_memory(known):
    knowledge = known()
    facts = facts_of_gpu(knowledge.gpu("mi300x-b"), knowledge)

    assert (facts.memory_gb, facts.unified) == (None, True)


def test_the_weaker_and_older_record_counts(make, known):
    old = date(2025, 1, 1)
    knowledge = known(make.card("mi300x", checked=old, confidence="inferred", bandwidth_gbs=5300))
    facts = facts_of_gpu(knowledge.gpu("mi300x"), knowledge)

    assert (facts.checked, facts.confidence, facts.bandwidth_gbs) == (old, "inferred", 5300)


def test_a_card_of_two_devices_counts_as_one_device(make, known):
    memory = MemoryNeed(mode="m", gb=100, known=date(2025, 1, 1), source=Source(where="a README"))
    knowledge = known(make.card("mi300x", devices=2, bandwidth_gbs=3200))
    facts = facts_of_gpu(knowledge.gpu("mi300x"), knowledge, (memory,))

    assert devices_of(knowledge.gpu("mi300x"), knowledge) == 2
    assert devices_of(knowledge.gpu("rx7900xtx"), knowledge) == 1
    assert (facts.memory_gb, facts.bandwidth_gbs, facts.devices) == (96, 1600, 2)
    assert [mode.fits for mode in facts.modes] == [False]


def test_facts_of_an_nvidia_card(make):
    facts = facts_of_card(make.card("h100", 80, bandwidth_gbs=3350, bf16=True, watts=700))

    assert (facts.memory_gb, facts.fp8, facts.matrix, facts.target) == (80, "ocp", "tensor", None)
    assert (facts.bandwidth_gbs, facts.bf16, facts.watts) == (3350, True, 700)


def test_no_nvidia_card_gives_none(make, known):
    chosen, _ = nearest_rivals(known().gpu("mi300x"), [make.card("mi300x")])

    assert list(chosen) == []


def test_all_cards_nearest_in_memory_on_a_tie(make, known):
    cards = [make.card("a", 24), make.card("b", 180), make.card("c", 204), make.card("d", 192, unified=True)]
    chosen, why = nearest_rivals(known().gpu("mi300x"), cards)

    assert [card.id for card in chosen] == ["b", "c"]
    assert why == "memory nearest to 192 GB"


def test_shared_memory_is_compared_with_shared_memory(make, known):
    chosen, why = nearest_rivals(known().gpu("mi300x-b"), [make.card("a", 24), make.card("d", 128, unified=True)])

    assert [card.id for card in chosen] == ["d"]
    assert "share" in why
