"""CUDA, ROCm or both for one repository: compares the cards, counts the cost of its dependencies, and concludes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from rocm3d.model.comparison import Choice, Comparison, ComparisonRow, DependencyCost, Loss
from rocm3d.model.package import Decision
from rocm3d.plan.aspects import aspects
from rocm3d.plan.card_facts import facts_of_card, facts_of_gpu, nearest_rivals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.card import Card
    from rocm3d.model.comparison import CardFacts, Lead
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.model.port import MemoryNeed
    from rocm3d.model.target import Gpu

NO_CHECKOUT = "the dependencies are unknown. Pass the folder of a checkout"
NO_STACK = "no known stack supports this GPU"


@dataclass(frozen=True)
class ComparisonRequest:
    """Without `against`, compares with the NVIDIA cards nearest in memory. Without `plan`, ignores dependencies."""

    gpu: Gpu
    knowledge: Knowledge
    today: date
    against: Sequence[Card] = ()
    memory: Sequence[MemoryNeed] = ()
    plan: Plan | None = None


def compare(request: ComparisonRequest) -> Comparison:
    """All rows with their values, then reasons for and costs of each choice."""
    cards, selection_reason = request.against, "as requested"
    if not cards:
        cards, selection_reason = nearest_rivals(request.gpu, request.knowledge.cards.values())
    gpu = facts_of_gpu(request.gpu, request.knowledge, request.memory)
    against = tuple(facts_of_card(card, request.memory) for card in cards)
    cost = None if request.plan is None else dependency_cost(request.plan)
    rows = aspects(gpu, against, request.today)
    return Comparison(
        gpu=gpu,
        against=against,
        chosen=selection_reason,
        aspects=rows if cost is None else (*rows, _dependency_row(cost, len(against))),
        dependencies=cost,
        forces_cuda=() if cost is None else tuple(item.name for item in cost.blocked),
        choices=(
            _cuda_choice(rows, gpu, against, cost),
            _rocm_choice(rows, gpu, against, cost),
            _hybrid_choice(gpu, against, cost),
        ),
        conclusion=_conclusion(cost),
    )


def dependency_cost(plan: Plan) -> DependencyCost:
    """Counts of the plan's decisions, losses, stubs and edits."""
    counts = Counter(item.decision for item in plan.decisions)
    blocked = tuple(item for item in plan.decisions if item.decision == "blocked")
    return DependencyCost(
        stack=None if plan.stack is None else plan.stack.id,
        counts={decision: counts[decision] for decision in get_args(Decision) if counts[decision]},
        losses=tuple(_loss(item) for item in plan.losses if item not in blocked),
        stand_ins=tuple(_loss(item) for item in plan.stubs if item not in plan.losses),
        blocked=tuple(_loss(item) for item in blocked),
        edits=len(plan.edits),
        effort=plan.effort,
    )


def _dependency_row(cost: DependencyCost, cards: int) -> ComparisonRow:
    return ComparisonRow(
        name="dependencies",
        rocm=NO_STACK if cost.stack is None else decision_counts(cost),
        cuda=("unchanged",) * cards,
        leads=("unknown",) * cards,
        says=("",) * cards,
    )


def _loss(decision: DependencyDecision) -> Loss:
    return Loss(name=decision.name, decision=decision.decision, why=decision.loses or decision.reason)


def decision_counts(cost: DependencyCost) -> str:
    """For example `12 keep, 3 replace, 1 blocked`."""
    return ", ".join(f"{count} {decision}" for decision, count in cost.counts.items()) or "none"


def _cuda_choice(
    rows: Sequence[ComparisonRow], gpu: CardFacts, against: Sequence[CardFacts], cost: DependencyCost | None
) -> Choice:
    reasons = [] if cost is None else ["the dependencies install unchanged"]
    reasons += _leading_sentences(rows, "rival")
    for card in against:
        reasons += [f"{mode} fits {card.title} and not {gpu.title}" for mode in _modes_only_on(card, gpu)]
    costs = [f"{mode.mode} does not fit {card.title}" for card in against for mode in card.modes if mode.fits is False]
    return Choice(platform="CUDA", reasons=tuple(reasons), costs=tuple(costs))


def _rocm_choice(
    rows: Sequence[ComparisonRow], gpu: CardFacts, against: Sequence[CardFacts], cost: DependencyCost | None
) -> Choice:
    reasons = list(_leading_sentences(rows, "gpu"))
    for card in against:
        reasons += [f"{mode} fits {gpu.title} and not {card.title}" for mode in _modes_only_on(gpu, card)]
    costs = [f"{mode.mode} does not fit {gpu.title}" for mode in gpu.modes if mode.fits is False]
    return Choice(platform="ROCm", reasons=tuple(reasons), costs=(*_dependency_costs(cost), *costs))


def _dependency_costs(cost: DependencyCost | None) -> Iterator[str]:
    if cost is None:
        return
    if cost.stack is None:
        yield NO_STACK
        return
    yield f"dependencies: {decision_counts(cost)}"
    yield from (f"{item.name} is blocked: {item.why}" for item in cost.blocked)
    yield from (f"{item.name} ({item.decision}) loses: {item.why}" for item in cost.losses)
    yield from (f"{item.name} becomes a stub or substitute: {item.why}" for item in cost.stand_ins)
    work = [f"{label} {count}" for label, count in _effort_counts(cost) if count]
    if work:
        yield f"source edits: {', '.join(work)}"


def _effort_counts(cost: DependencyCost) -> tuple[tuple[str, int], ...]:
    effort = cost.effort
    return (
        ("automatic", cost.edits),
        ("minutes each", effort.minutes),
        ("hours each", effort.hours),
        ("a rewrite each", effort.rewrite),
    )


def _hybrid_choice(gpu: CardFacts, against: Sequence[CardFacts], cost: DependencyCost | None) -> Choice:
    """Parts on CUDA and parts on ROCm: the components or modes that require it."""
    reasons = []
    if cost is not None and cost.blocked:
        names = ", ".join(item.name for item in cost.blocked)
        reasons.append(f"{names}: no route on ROCm. What needs it stays on CUDA; all else can run on {gpu.title}")
    if cost is not None and cost.losses:
        names = ", ".join(item.name for item in cost.losses)
        reasons.append(f"{names}: loses features on ROCm. What needs them stays on CUDA")
    for card in against:
        for fitting, other in ((gpu, card), (card, gpu)):
            reasons += [
                f"{mode} on {fitting.title}, since it does not fit {other.title}"
                for mode in _modes_only_on(fitting, other)
            ]
    if not reasons and cost is not None and cost.stack is not None:
        reasons.append(
            "no component requires CUDA: training on one and inference on the other is only a matter of price"
        )
    costs = ["two installations to maintain, and results to compare between them"]
    if any(card.fp8 not in ("none", gpu.fp8) and gpu.fp8 != "none" for card in against):
        costs.append("fp8 weights, if any, must be converted between them")
    return Choice(platform="hybrid", reasons=tuple(reasons), costs=tuple(costs))


def _leading_sentences(rows: Sequence[ComparisonRow], side: Lead) -> Iterator[str]:
    for row in rows:
        yield from (sentence for lead, sentence in zip(row.leads, row.says, strict=True) if lead == side and sentence)


def _modes_only_on(card: CardFacts, other: CardFacts) -> list[str]:
    """Modes that fit the first card and not the second. Unknown, so none, for a card that shares system memory."""
    pairs = zip(card.modes, other.modes, strict=True)
    return [first.mode for first, second in pairs if first.fits and second.fits is False]


def _conclusion(cost: DependencyCost | None) -> str:
    if cost is None:
        return f"compares the cards only: {NO_CHECKOUT}"
    if cost.stack is None:
        return f"CUDA: {NO_STACK}"
    if cost.blocked:
        names = ", ".join(item.name for item in cost.blocked)
        return f"CUDA or hybrid: what needs {names} requires CUDA"
    if cost.losses:
        names = ", ".join(item.name for item in cost.losses)
        return f"ROCm if you can do without the features lost ({names}), else hybrid"
    return "ROCm or CUDA: no dependency requires CUDA. Decide by the cards"
