"""CUDA, ROCm or both for one repository: compares the cards, counts the cost of its dependencies, and concludes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import get_args

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.card import Card, Price, PriceKind
from rocm3d.model.fit import CardFacts, Choice, Comparison, ComparisonRow, DependencyCost, Lead, Loss
from rocm3d.model.package import Decision
from rocm3d.model.plan import DependencyDecision, Plan
from rocm3d.model.port import MemoryNeed
from rocm3d.model.target import Gpu
from rocm3d.plan.card_facts import facts_of_card, facts_of_gpu, nearest_rivals
from rocm3d.plan.stage import OLD_AFTER_DAYS

NO_CHECKOUT = "the dependencies are unknown. Pass the folder of a checkout"
NO_STACK = "no known stack supports this GPU"
UNKNOWN = "unknown"
# Relative differences up to this count as even.
_EVEN_WITHIN = 0.05
_FP8 = {"none": "none", "fnuz": "fnuz formats", "ocp": "OCP formats"}
_MATRIX = {"none": "none", "mfma": "MFMA", "wmma": "WMMA", "tensor": "tensor cores"}
_CLOUD = {"yes": "yes", "rare": "rarely", "no": "no"}
_RANK = {"no": 0, "rare": 1, "yes": 2}

CardAdvantage = tuple[Lead, str]
"""Which card leads in one property, and a sentence about it."""
CompareCards = Callable[[CardFacts, CardFacts], CardAdvantage]
_NO_ADVANTAGE: CardAdvantage = ("unknown", "")


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
    unchanged = () if cost is None else ("the dependencies install unchanged",)
    exclusive_modes = (
        f"{mode} fits {card.title} and not {gpu.title}" for card in against for mode in _modes_only_on(card, gpu)
    )
    costs = (f"{mode.mode} does not fit {card.title}" for card in against for mode in card.modes if mode.fits is False)
    return Choice(
        platform="CUDA",
        reasons=(*unchanged, *_leading_sentences(rows, "rival"), *exclusive_modes),
        costs=tuple(costs),
    )


def _rocm_choice(
    rows: Sequence[ComparisonRow], gpu: CardFacts, against: Sequence[CardFacts], cost: DependencyCost | None
) -> Choice:
    exclusive_modes = (
        f"{mode} fits {gpu.title} and not {card.title}" for card in against for mode in _modes_only_on(gpu, card)
    )
    costs = (f"{mode.mode} does not fit {gpu.title}" for mode in gpu.modes if mode.fits is False)
    return Choice(
        platform="ROCm",
        reasons=(*_leading_sentences(rows, "gpu"), *exclusive_modes),
        costs=(*_dependency_costs(cost), *costs),
    )


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
    effort = {
        "minutes each": cost.effort.minutes,
        "hours each": cost.effort.hours,
        "a rewrite each": cost.effort.rewrite,
    }
    work = [f"{label} {count}" for label, count in {"automatic": cost.edits, **effort}.items() if count]
    if work:
        yield f"source edits: {', '.join(work)}"


def _hybrid_choice(gpu: CardFacts, against: Sequence[CardFacts], cost: DependencyCost | None) -> Choice:
    """Parts on CUDA and parts on ROCm: the components or modes that require it."""
    reasons = []
    if cost is not None and cost.blocked:
        reasons.append(
            f"{_names(cost.blocked)}: no route on ROCm. What needs it stays on CUDA; all else can run on {gpu.title}"
        )
    if cost is not None and cost.losses:
        reasons.append(f"{_names(cost.losses)}: loses features on ROCm. What needs them stays on CUDA")
    reasons += [
        f"{mode} on {fitting.title}, since it does not fit {other.title}"
        for card in against
        for fitting, other in ((gpu, card), (card, gpu))
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


def _names(losses: Sequence[Loss]) -> str:
    return ", ".join(loss.name for loss in losses)


def _leading_sentences(rows: Sequence[ComparisonRow], side: Lead) -> list[str]:
    pairs = (pair for row in rows for pair in zip(row.leads, row.says, strict=True))
    return [sentence for lead, sentence in pairs if lead == side and sentence]


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
        return f"CUDA or hybrid: what needs {_names(cost.blocked)} requires CUDA"
    if cost.losses:
        return f"ROCm if you can do without the features lost ({_names(cost.losses)}), else hybrid"
    return "ROCm or CUDA: no dependency requires CUDA. Decide by the cards"


# The rows of the comparison: one property each, its value on every card, and a sentence about the difference.


def aspects(gpu: CardFacts, against: Sequence[CardFacts], today: date) -> tuple[ComparisonRow, ...]:
    """All rows about hardware, prices and cloud offers."""

    def row(name: str, show: Callable[[CardFacts], str], compare: CompareCards) -> ComparisonRow:
        advantages = [compare(gpu, other) for other in against]
        return ComparisonRow(
            name=name,
            rocm=show(gpu),
            cuda=tuple(show(other) for other in against),
            leads=tuple(lead for lead, _ in advantages),
            says=tuple(sentence for _, sentence in advantages),
        )

    return (
        row("memory", _memory, lambda a, b: _ratio("memory", a, b, a.memory_gb, b.memory_gb)),
        row("bandwidth", _bandwidth, lambda a, b: _ratio("bandwidth", a, b, a.bandwidth_gbs, b.bandwidth_gbs)),
        row("fp8", lambda card: _FP8[card.fp8], _fp8),
        row("bf16", lambda card: UNKNOWN if card.bf16 is None else "yes" if card.bf16 else "no", _bf16),
        row("matrix instructions", lambda card: _MATRIX[card.matrix], _matrix),
        row("board power", lambda card: UNKNOWN if card.watts is None else f"{card.watts} W", lambda *_: _NO_ADVANTAGE),
        row("price to buy", lambda card: _prices(card, "buy", today), lambda a, b: _cheaper("buy", a, b)),
        row("price to rent", lambda card: _prices(card, "rent", today), lambda a, b: _cheaper("rent", a, b)),
        row("cloud", lambda card: _cloud(card, today), _easier_to_rent),
    )


def _memory(card: CardFacts) -> str:
    kind = f" {card.memory_kind}" if card.memory_kind else ""
    if card.memory_gb is None:
        return f"the system's{kind} memory"
    shared = ", shared with the CPU" if card.unified else ""
    several = f" on each of {card.devices} devices" if card.devices > 1 else ""
    return f"{card.memory_gb:g} GB{kind}{several}{shared}"


def _bandwidth(card: CardFacts) -> str:
    each = " per device" if card.devices > 1 else ""
    return UNKNOWN if card.bandwidth_gbs is None else f"{card.bandwidth_gbs:g} GB/s{each}"


def _ratio(quantity: str, a: CardFacts, b: CardFacts, first: float | None, second: float | None) -> CardAdvantage:
    if first is None or second is None:
        return _NO_ADVANTAGE
    if abs(first - second) <= _EVEN_WITHIN * max(first, second):
        return ("even", f"{a.title} and {b.title}: about the same {quantity}")
    more, less = (a, b) if first > second else (b, a)
    times = max(first, second) / min(first, second)
    return (_lead(more), f"{more.title} has {times:.1f} times the {quantity} of {less.title}")


def _fp8(a: CardFacts, b: CardFacts) -> CardAdvantage:
    if a.fp8 == b.fp8:
        return ("even", "no fp8 on either card" if a.fp8 == "none" else "same fp8 formats")
    if "none" not in (a.fp8, b.fp8):
        return ("even", "different fp8 formats: weights saved in one must be converted for the other")
    having = a if b.fp8 == "none" else b
    return (_lead(having), f"fp8: {having.title} only")


def _bf16(a: CardFacts, b: CardFacts) -> CardAdvantage:
    if a.bf16 is None or b.bf16 is None:
        return _NO_ADVANTAGE
    if a.bf16 == b.bf16:
        return ("even", "bf16 on both cards" if a.bf16 else "no bf16 on either card")
    having = a if a.bf16 else b
    return (_lead(having), f"bf16: {having.title} only")


def _matrix(a: CardFacts, b: CardFacts) -> CardAdvantage:
    if a.matrix == b.matrix:
        return ("even", "")
    if "none" not in (a.matrix, b.matrix):
        return ("even", "library calls work on both; kernels written for tensor cores do not")
    having, lacking = (a, b) if b.matrix == "none" else (b, a)
    sentence = f"{lacking.title} has no matrix instructions: large matrix products run at vector speed"
    return (_lead(having), sentence)


def _prices(card: CardFacts, acquisition: PriceKind, today: date) -> str:
    return "; ".join(_price(price, today) for price in _prices_of(card, acquisition)) or "no known price"


def _price(price: Price, today: date) -> str:
    digits = 0 if price.way == "buy" else 2
    span = f"{price.low:,.{digits}f}" + (f" to {price.high:,.{digits}f}" if price.high > price.low else "")
    note = f", {price.note}" if price.note else ""
    hourly = " per hour" if price.way == "rent" else ""
    return f"{price.currency} {span}{hourly}{note} ({date_with_age(price.known, today)})"


def date_with_age(known: date, today: date) -> str:
    """The date, marked `old` after OLD_AFTER_DAYS."""
    return f"{known}, old" if (today - known).days > OLD_AFTER_DAYS else f"{known}"


def _prices_of(card: CardFacts, acquisition: PriceKind) -> Iterator[Price]:
    return (price for price in card.prices if price.way == acquisition)


def _cheaper(acquisition: PriceKind, a: CardFacts, b: CardFacts) -> CardAdvantage:
    """Only if the price ranges do not overlap, and only like with like: never a machine with a bare card."""
    first, second = list(_prices_of(a, acquisition)), list(_prices_of(b, acquisition))
    both = (*first, *second)
    if not first or not second or len({(price.currency, bool(price.note)) for price in both}) > 1:
        return _NO_ADVANTAGE
    dates = " and ".join(str(day) for day in sorted({price.known for price in both}))
    for low, high, cheap, dear in ((a, b, first, second), (b, a, second, first)):
        if max(price.high for price in cheap) < min(price.low for price in dear):
            return (_lead(low), f"{low.title} is cheaper to {acquisition} than {high.title} (prices of {dates})")
    return ("even", f"{a.title} and {b.title}: prices to {acquisition} overlap; compare offers")


def _cloud(card: CardFacts, today: date) -> str:
    if card.cloud is None:
        return UNKNOWN
    return f"{_CLOUD[card.cloud.available]}: {card.cloud.where} ({date_with_age(card.cloud.known, today)})"


def _easier_to_rent(a: CardFacts, b: CardFacts) -> CardAdvantage:
    if a.cloud is None or b.cloud is None:
        return _NO_ADVANTAGE
    first, second = _RANK[a.cloud.available], _RANK[b.cloud.available]
    if first == second:
        return ("even", "")
    easier = a if first > second else b
    return (_lead(easier), f"{easier.title} is easier to rent")


def _lead(card: CardFacts) -> Lead:
    return "gpu" if card.vendor == "amd" else "rival"
