"""The rows of a card comparison: one property each, its value on every card, and a sentence about the difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from rocm3d.model.comparison import CardFacts, ComparisonRow, Lead
from rocm3d.plan.stage import OLD_AFTER_DAYS

if TYPE_CHECKING:
    from datetime import date

    from rocm3d.model.card import Price, PriceKind

UNKNOWN = "unknown"
# Relative differences up to this count as even.
_EVEN_WITHIN = 0.05
_FP8 = {"none": "none", "fnuz": "fnuz formats", "ocp": "OCP formats"}
_MATRIX = {"none": "none", "mfma": "MFMA", "wmma": "WMMA", "tensor": "tensor cores"}
_CLOUD = {"yes": "yes", "rare": "rarely", "no": "no"}
_RANK = {"no": 0, "rare": 1, "yes": 2}


class CardAdvantage(NamedTuple):
    """Which card leads in one property, and a sentence about it."""

    lead: Lead
    sentence: str


CompareCards = Callable[[CardFacts, CardFacts], CardAdvantage]


def aspects(gpu: CardFacts, against: Sequence[CardFacts], today: date) -> tuple[ComparisonRow, ...]:
    """All rows about hardware, prices and cloud offers."""

    def row(name: str, show: Callable[[CardFacts], str], compare: CompareCards) -> ComparisonRow:
        advantages = [compare(gpu, other) for other in against]
        return ComparisonRow(
            name=name,
            rocm=show(gpu),
            cuda=tuple(show(other) for other in against),
            leads=tuple(item.lead for item in advantages),
            says=tuple(item.sentence for item in advantages),
        )

    def show_prices(acquisition: PriceKind) -> Callable[[CardFacts], str]:
        return lambda card: _prices(card, acquisition, today)

    return (
        row("memory", _memory, lambda a, b: _ratio("memory", a, b, a.memory_gb, b.memory_gb)),
        row("bandwidth", _bandwidth, lambda a, b: _ratio("bandwidth", a, b, a.bandwidth_gbs, b.bandwidth_gbs)),
        row("fp8", lambda card: _FP8[card.fp8], _fp8),
        row("bf16", lambda card: UNKNOWN if card.bf16 is None else "yes" if card.bf16 else "no", _bf16),
        row("matrix instructions", lambda card: _MATRIX[card.matrix], _matrix),
        row("board power", lambda card: UNKNOWN if card.watts is None else f"{card.watts} W", _no_advantage),
        row("price to buy", show_prices("buy"), lambda a, b: _cheaper("buy", a, b)),
        row("price to rent", show_prices("rent"), lambda a, b: _cheaper("rent", a, b)),
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
    if card.bandwidth_gbs is None:
        return UNKNOWN
    return f"{card.bandwidth_gbs:g} GB/s" + (" per device" if card.devices > 1 else "")


def _ratio(quantity: str, a: CardFacts, b: CardFacts, first: float | None, second: float | None) -> CardAdvantage:
    if first is None or second is None:
        return CardAdvantage("unknown", "")
    if abs(first - second) <= _EVEN_WITHIN * max(first, second):
        return CardAdvantage("even", f"{a.title} and {b.title}: about the same {quantity}")
    more, less = (a, b) if first > second else (b, a)
    times = max(first, second) / min(first, second)
    return CardAdvantage(_lead(more), f"{more.title} has {times:.1f} times the {quantity} of {less.title}")


def _fp8(a: CardFacts, b: CardFacts) -> CardAdvantage:
    if a.fp8 == b.fp8:
        return CardAdvantage("even", "no fp8 on either card" if a.fp8 == "none" else "same fp8 formats")
    if "none" not in (a.fp8, b.fp8):
        return CardAdvantage("even", "different fp8 formats: weights saved in one must be converted for the other")
    having = a if b.fp8 == "none" else b
    return CardAdvantage(_lead(having), f"fp8: {having.title} only")


def _bf16(a: CardFacts, b: CardFacts) -> CardAdvantage:
    if a.bf16 is None or b.bf16 is None:
        return CardAdvantage("unknown", "")
    if a.bf16 == b.bf16:
        return CardAdvantage("even", "bf16 on both cards" if a.bf16 else "no bf16 on either card")
    having = a if a.bf16 else b
    return CardAdvantage(_lead(having), f"bf16: {having.title} only")


def _matrix(a: CardFacts, b: CardFacts) -> CardAdvantage:
    if a.matrix == b.matrix:
        return CardAdvantage("even", "")
    if "none" not in (a.matrix, b.matrix):
        return CardAdvantage("even", "library calls work on both; kernels written for tensor cores do not")
    having, lacking = (a, b) if b.matrix == "none" else (b, a)
    sentence = f"{lacking.title} has no matrix instructions: large matrix products run at vector speed"
    return CardAdvantage(_lead(having), sentence)


def _no_advantage(a: CardFacts, b: CardFacts) -> CardAdvantage:  # noqa: ARG001  (one signature for all)
    return CardAdvantage("unknown", "")


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
        return CardAdvantage("unknown", "")
    dates = " and ".join(str(day) for day in sorted({price.known for price in both}))
    for low, high, cheap, dear in ((a, b, first, second), (b, a, second, first)):
        if max(price.high for price in cheap) < min(price.low for price in dear):
            return CardAdvantage(
                _lead(low), f"{low.title} is cheaper to {acquisition} than {high.title} (prices of {dates})"
            )
    return CardAdvantage("even", f"{a.title} and {b.title}: prices to {acquisition} overlap; compare offers")


def _cloud(card: CardFacts, today: date) -> str:
    if card.cloud is None:
        return UNKNOWN
    return f"{_CLOUD[card.cloud.available]}: {card.cloud.where} ({date_with_age(card.cloud.known, today)})"


def _easier_to_rent(a: CardFacts, b: CardFacts) -> CardAdvantage:
    if a.cloud is None or b.cloud is None:
        return CardAdvantage("unknown", "")
    first, second = _RANK[a.cloud.available], _RANK[b.cloud.available]
    if first == second:
        return CardAdvantage("even", "")
    easier = a if first > second else b
    return CardAdvantage(_lead(easier), f"{easier.title} is easier to rent")


def _lead(card: CardFacts) -> Lead:
    return "gpu" if card.vendor == "amd" else "rival"
