"""CUDA, ROCm or both: reasons are listed by name; without a checkout, dependencies do not count."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from rocm3d.model.plan import ChosenStack, DependencyDecision, EffortCounts, Plan
from rocm3d.model.port import MemoryNeed
from rocm3d.model.source import Source
from rocm3d.plan.comparison import NO_CHECKOUT, NO_STACK, Question, compare, counted, dependency_cost

MODES = tuple(
    MemoryNeed(mode=name, gb=gb, known=date(2025, 1, 1), source=Source(where="a README"))
    for name, gb in (("small", 10), ("large", 100))
)


def decision(name, kind, **rest):
    return DependencyDecision(name=name, package=name, decision=kind, route="r", reason=f"{kind} it", **rest)


@pytest.fixture
def knowledge(make):
    cards = (make.card("h100", 80, bandwidth_gbs=3350), make.card("b200", 180, bandwidth_gbs=8000))
    own = make.card("mi300x", bandwidth_gbs=5300)
    return replace(make.knowledge(), cards={card.id: card for card in (*cards, own)})


@pytest.fixture
def planned(make, knowledge):
    def plan(*decisions, feasible=True, **rest):
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
            **rest,
        )

    return plan


@pytest.fixture
def ask(make, knowledge):
    def compared(plan=None, against=("h100",), memory=MODES, gpu="mi300x"):
        cards = [knowledge.cards[name] for name in against]
        return compare(Question(knowledge.gpu(gpu), knowledge, make.today, cards, memory, plan))

    return compared


def choice(comparison, platform):
    return next(item for item in comparison.choices if item.platform == platform)


def test_without_a_checkout_the_dependencies_decide_nothing(ask):
    found = ask()

    assert (found.dependencies, found.forces_cuda) == (None, ())
    assert NO_CHECKOUT in found.conclusion
    assert "dependencies" not in {row.name for row in found.aspects}
    assert choice(found, "ROCm").costs == ()


def test_a_gpu_that_no_stack_serves_is_left_to_cuda(ask, planned):
    found = ask(planned(feasible=False))

    assert found.conclusion == f"CUDA: {NO_STACK}"
    assert NO_STACK in choice(found, "ROCm").costs
    assert found.aspects[-1].rocm == NO_STACK


def test_a_blocked_component_forces_cuda_by_name(ask, planned):
    found = ask(planned(decision("torch", "keep"), decision("optix", "blocked")))

    assert found.forces_cuda == ("optix",)
    assert found.conclusion == "CUDA or hybrid: what needs optix requires CUDA"
    assert "optix is blocked: blocked it" in choice(found, "ROCm").costs
    assert any("optix: no route on ROCm" in reason for reason in choice(found, "hybrid").reasons)


def test_losses_and_stand_ins_are_told_by_name_and_not_mixed_up(ask, planned):
    decisions = (
        decision("kaolin", "stub"),
        decision("attn", "replace", loses="the backward pass"),
        decision("knn", "substitute"),
        decision("fog", "blocked", loses="all of it"),
    )
    found = ask(planned(*decisions))
    cost = found.dependencies

    assert [item.name for item in cost.losses] == ["kaolin", "attn"]
    assert [item.name for item in cost.stand_ins] == ["knn"]
    assert [item.name for item in cost.blocked] == ["fog"]
    costs = choice(found, "ROCm").costs
    assert "attn (replace) loses: the backward pass" in costs
    assert "knn becomes a stub or substitute: substitute it" in costs


def test_a_loss_alone_leaves_the_choice_to_the_program(ask, planned):
    found = ask(planned(decision("kaolin", "stub")))

    assert found.conclusion.startswith("ROCm if you can do without the features lost (kaolin)")
    assert any("stays on CUDA" in reason for reason in choice(found, "hybrid").reasons)


def test_nothing_that_forces_cuda_leaves_it_to_the_cards(ask, planned):
    found = ask(planned(decision("torch", "keep")), memory=())

    assert found.conclusion.startswith("ROCm or CUDA")
    assert choice(found, "hybrid").reasons == (
        "no component requires CUDA: training on one and inference on the other is only a matter of price",
    )


def test_counts_stand_in_the_order_of_decisions(planned):
    cost = dependency_cost(
        planned(*(decision(str(n), kind) for n, kind in enumerate(("blocked", "keep", "keep", "build"))))
    )

    assert counted(cost) == "2 keep, 1 build, 1 blocked"
    assert counted(dependency_cost(planned())) == "none"


def test_work_on_the_source_is_counted_and_none_of_it_is_silent(ask, planned):
    found = ask(planned(effort=EffortCounts(none=9, minutes=2, rewrite=1)))

    assert "source edits: minutes each 2, a rewrite each 1" in choice(found, "ROCm").costs
    assert not [line for line in choice(ask(planned()), "ROCm").costs if line.startswith("places")]


def test_a_mode_that_fits_one_card_alone_is_a_reason(ask, planned):
    found = ask(planned())

    assert "large fits MI300X and not H100" in choice(found, "ROCm").reasons
    assert "large does not fit H100" in choice(found, "CUDA").costs
    assert "large on MI300X, since it does not fit H100" in choice(found, "hybrid").reasons
    assert not [text for text in choice(found, "CUDA").reasons if "fits" in text]


def test_a_gpu_that_shares_memory_claims_no_mode(ask, planned):
    found = ask(planned(), gpu="mi300x-b")

    assert not [text for item in found.choices for text in item.reasons if "fit" in text]


def test_each_side_has_what_speaks_for_it(ask, planned):
    found = ask(planned(decision("torch", "keep")), against=("h100", "b200"))

    assert "MI300X has 2.4 times the memory of H100" in choice(found, "ROCm").reasons
    assert "B200 has 1.5 times the bandwidth of MI300X" in choice(found, "CUDA").reasons
    assert choice(found, "CUDA").reasons[0] == "the dependencies install unchanged"
    assert [card.id for card in found.against] == ["h100", "b200"]


def test_left_out_the_nearest_cards_are_taken_and_why_is_said(ask):
    found = ask(against=())

    assert [card.id for card in found.against] == ["b200"]
    assert found.chosen == "memory nearest to 192 GB"


def test_different_fp8_formats_cost_a_conversion(ask):
    assert "fp8 weights, if any, must be converted between them" in choice(ask(), "hybrid").costs


def test_the_same_question_has_the_same_answer_in_any_order_of_records(ask, knowledge, make, planned):
    turned = replace(knowledge, cards=dict(reversed(knowledge.cards.items())))
    plan = planned(decision("torch", "keep"))
    question = Question(turned.gpu("mi300x"), turned, make.today, (), MODES, plan)

    assert compare(question) == ask(plan, against=())
