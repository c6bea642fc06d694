"""CUDA, ROCm or both: reasons are listed by name; without a checkout, dependencies do not count."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from rocm3d.model.plan import ChosenStack, DependencyDecision, EffortCounts, Plan
from rocm3d.model.port import MemoryNeed
from rocm3d.model.source import Source
from rocm3d.plan.comparison import NO_CHECKOUT, NO_STACK, ComparisonRequest, compare, decision_counts, dependency_cost

MODES = tuple(
    MemoryNeed(mode=name, gb=gb, known=date(2025, 1, 1), source=Source(where="a README"))
    for name, gb in (("small", 10), ("large", 100))
)


def decision(name, kind, **fields):
    return DependencyDecision(name=name, package=name, decision=kind, route="r", reason=f"{kind} it", **fields)


@pytest.fixture
def knowledge(make):
    cards = (make.card("h100", 80, bandwidth_gbs=3350), make.card("b200", 180, bandwidth_gbs=8000))
    own = make.card("mi300x", bandwidth_gbs=5300)
    return replace(make.knowledge(), cards={card.id: card for card in (*cards, own)})


@pytest.fixture
def planned(make, knowledge):
    def plan(*decisions, feasible=True, **fields):
        return Plan(
            repository="r",
            gpu=knowledge.gpu("mi300x"),
            stack=ChosenStack(id="s", reason="fits") if feasible else None,
            base=make.stack("s") if feasible else None,
            rejected_stacks=(),
            decisions=decisions,
            edits=(),
            answered=(),
            left=(),
            readiness="ready",
            knowledge_date="2026-11-15",
            **fields,
        )

    return plan


@pytest.fixture
def compare_cards(make, knowledge):
    def compared(plan=None, against=("h100",), memory=MODES, gpu="mi300x"):
        cards = [knowledge.cards[name] for name in against]
        return compare(ComparisonRequest(knowledge.gpu(gpu), knowledge, make.today, cards, memory, plan))

    return compared


def choice(comparison, platform):
    return next(entry for entry in comparison.choices if entry.platform == platform)


def test_without_a_checkout_the_dependencies_decide_nothing(compare_cards):
    result = compare_cards()

    assert (result.dependencies, result.forces_cuda) == (None, ())
    assert NO_CHECKOUT in result.conclusion
    assert "dependencies" not in {row.name for row in result.aspects}
    assert choice(result, "ROCm").costs == ()


def test_a_gpu_without_a_stack_needs_cuda(compare_cards, planned):
    result = compare_cards(planned(feasible=False))

    assert result.conclusion == f"CUDA: {NO_STACK}"
    assert NO_STACK in choice(result, "ROCm").costs
    assert result.aspects[-1].rocm == NO_STACK


def test_a_blocked_component_forces_cuda_by_name(compare_cards, planned):
    result = compare_cards(planned(decision("torch", "keep"), decision("optix", "blocked")))

    assert result.forces_cuda == ("optix",)
    assert result.conclusion == "CUDA or hybrid: what needs optix requires CUDA"
    assert "optix is blocked: blocked it" in choice(result, "ROCm").costs
    assert any("optix: no route on ROCm" in reason for reason in choice(result, "hybrid").reasons)


def test_losses_and_stubs_are_listed_separately_by_name(compare_cards, planned):
    decisions = (
        decision("kaolin", "stub"),
        decision("attn", "replace", loses="the backward pass"),
        decision("knn", "substitute"),
        decision("fog", "blocked", loses="all of it"),
    )
    result = compare_cards(planned(*decisions))
    cost = result.dependencies

    assert [item.name for item in cost.losses] == ["kaolin", "attn"]
    assert [item.name for item in cost.stand_ins] == ["knn"]
    assert [item.name for item in cost.blocked] == ["fog"]
    costs = choice(result, "ROCm").costs
    assert "attn (replace) loses: the backward pass" in costs
    assert "knn becomes a stub or substitute: substitute it" in costs


def test_a_loss_makes_the_choice_depend_on_the_program(compare_cards, planned):
    result = compare_cards(planned(decision("kaolin", "stub")))

    assert result.conclusion.startswith("ROCm if you can do without the features lost (kaolin)")
    assert any("stays on CUDA" in reason for reason in choice(result, "hybrid").reasons)


def test_nothing_that_forces_cuda_leaves_it_to_the_cards(compare_cards, planned):
    result = compare_cards(planned(decision("torch", "keep")), memory=())

    assert result.conclusion.startswith("ROCm or CUDA")
    assert choice(result, "hybrid").reasons == (
        "no component requires CUDA: training on one and inference on the other is only a matter of price",
    )


def test_counts_are_in_the_order_of_decisions(planned):
    cost = dependency_cost(
        planned(*(decision(str(n), kind) for n, kind in enumerate(("blocked", "keep", "keep", "build"))))
    )

    assert decision_counts(cost) == "2 keep, 1 build, 1 blocked"
    assert decision_counts(dependency_cost(planned())) == "none"


def test_source_edits_are_counted_and_zero_is_silent(compare_cards, planned):
    result = compare_cards(planned(effort=EffortCounts(none=9, minutes=2, rewrite=1)))

    assert "source edits: minutes each 2, a rewrite each 1" in choice(result, "ROCm").costs
    assert not [line for line in choice(compare_cards(planned()), "ROCm").costs if line.startswith("places")]


def test_a_mode_that_fits_one_card_alone_is_a_reason(compare_cards, planned):
    result = compare_cards(planned())

    assert "large fits MI300X and not H100" in choice(result, "ROCm").reasons
    assert "large does not fit H100" in choice(result, "CUDA").costs
    assert "large on MI300X, since it does not fit H100" in choice(result, "hybrid").reasons
    assert not [text for text in choice(result, "CUDA").reasons if "fits" in text]


def test_a_gpu_that_shares_memory_claims_no_mode(compare_cards, planned):
    result = compare_cards(planned(), gpu="mi300x-b")

    assert not [text for entry in result.choices for text in entry.reasons if "fit" in text]


def test_each_choice_lists_its_reasons(compare_cards, planned):
    result = compare_cards(planned(decision("torch", "keep")), against=("h100", "b200"))

    assert "MI300X has 2.4 times the memory of H100" in choice(result, "ROCm").reasons
    assert "B200 has 1.5 times the bandwidth of MI300X" in choice(result, "CUDA").reasons
    assert choice(result, "CUDA").reasons[0] == "the dependencies install unchanged"
    assert [card.id for card in result.against] == ["h100", "b200"]


def test_default_is_the_nearest_cards_with_a_reason(compare_cards):
    result = compare_cards(against=())

    assert [card.id for card in result.against] == ["b200"]
    assert result.chosen == "memory nearest to 192 GB"


def test_different_fp8_formats_cost_a_conversion(compare_cards):
    assert "fp8 weights, if any, must be converted between them" in choice(compare_cards(), "hybrid").costs


def test_result_does_not_depend_on_the_order_of_records(compare_cards, knowledge, make, planned):
    turned = replace(knowledge, cards=dict(reversed(knowledge.cards.items())))
    plan = planned(decision("torch", "keep"))
    question = ComparisonRequest(turned.gpu("mi300x"), turned, make.today, (), MODES, plan)

    assert compare(question) == compare_cards(plan, against=())
