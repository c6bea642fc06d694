"""A comparison of cards as table rows, lists and sources, shared by all text formats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.model.fit import CardFacts, Choice, Comparison, FitMemory, Viability


RATINGS: dict[Viability, str] = {
    "High": "very good",
    "Medium": "good",
    "Medium-Low": "fair",
    "Low": "poor",
    "Very Low": "very poor",
    "Not viable": "not viable",
}


def heading(comparison: Comparison) -> str:
    """Which cards are compared, and why these."""
    others = ", ".join(card.title for card in comparison.against) or "no known NVIDIA card"
    why = f" ({comparison.chosen})" if comparison.against else ""
    return f"{comparison.gpu.title} compared with {others}{why}"


def header(comparison: Comparison) -> tuple[str, ...]:
    """The column titles."""
    return "", comparison.gpu.title, *(card.title for card in comparison.against), "meaning"


def table_rows(comparison: Comparison) -> Iterator[tuple[str, ...]]:
    """One row per aspect, and one per mode of running the repository."""
    for aspect in comparison.aspects:
        yield aspect.name, aspect.rocm, *aspect.cuda, "; ".join(dict.fromkeys(filter(None, aspect.says)))
    for index, mode in enumerate(comparison.gpu.modes):
        others = (memory_text(card.modes[index]) for card in comparison.against)
        yield f"{mode.mode}, {mode.gb:g} GB", memory_text(mode), *others, ""


def memory_text(mode: FitMemory) -> str:
    """Whether a mode fits into the memory, and how many jobs at once."""
    if mode.fits is None:
        return "depends on the system's memory"
    if not mode.fits:
        return "does not fit"
    return f"fits, {counted(mode.jobs or 0, 'job')} at once{', but barely' if mode.tight else ''}"


def pros_and_costs(choice: Choice) -> Iterator[str]:
    """Reasons for a choice, then its costs."""
    yield from (f"for: {text}" for text in choice.reasons)
    yield from (f"cost: {text}" for text in choice.costs)


def card_notes(comparison: Comparison) -> Iterator[str]:
    return (f"{card.title}: {note}" for card in (comparison.gpu, *comparison.against) for note in card.notes)


def source_lines(comparison: Comparison) -> Iterator[str]:
    """Sources of the figures of each card, with the date of the check."""
    for card in (comparison.gpu, *comparison.against):
        sources = "; ".join(dict.fromkeys(_sources(card)))
        target = f"; memory size, fp8 and matrix: the record of {card.target}" if card.target else ""
        yield f"{card.title}: checked {card.checked}, {card.confidence}; {sources}{target}"


def _sources(card: CardFacts) -> Iterator[str]:
    sources = (*card.sources, *(price.source for price in card.prices), *([card.cloud.source] if card.cloud else []))
    return (source.where for source in sources)
