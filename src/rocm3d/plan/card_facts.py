"""The facts about a card that a comparison needs, and the NVIDIA cards to compare an AMD card with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.comparison import CardFacts
from rocm3d.plan.memory import fit_modes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.card import Card
    from rocm3d.model.port import MemoryNeed
    from rocm3d.model.target import Gpu


def devices_of(gpu: Gpu, knowledge: Knowledge) -> int:
    """The number of GPUs that a program sees on this card."""
    card = knowledge.cards.get(gpu.product)
    return 1 if card is None else card.devices


def facts_of_gpu(gpu: Gpu, knowledge: Knowledge, memory: Iterable[MemoryNeed] = ()) -> CardFacts:
    """An AMD card, from the record of its target and, if present, its own record. `checked` is the older date."""
    target, card = knowledge.targets[gpu.gfx], knowledge.cards.get(gpu.product)
    devices = 1 if card is None else card.devices
    records = [target] if card is None else [target, card]
    weakest = "inferred" if any(record.confidence == "inferred" for record in records) else target.confidence
    gb = None if gpu.vram_gb is None else gpu.vram_gb / devices
    return CardFacts(
        id=gpu.product,
        title=gpu.title,
        vendor="amd",
        target=gpu.gfx,
        memory_gb=gb,
        unified=gpu.vram_gb is None,
        devices=devices,
        memory_kind="" if card is None else card.memory_kind,
        bandwidth_gbs=None if card is None else _per_device(card.bandwidth_gbs, devices),
        bf16=None if card is None else card.bf16,
        fp8=target.fp8,
        matrix=target.matrix,
        watts=None if card is None else card.watts,
        prices=() if card is None else card.prices,
        cloud=None if card is None else card.cloud,
        notes=() if card is None else card.notes,
        checked=min(record.checked for record in records),
        confidence=weakest,
        sources=records[-1].sources,
        modes=fit_modes(memory, gb),
    )


def facts_of_card(card: Card, memory: Iterable[MemoryNeed] = ()) -> CardFacts:
    """An NVIDIA card. The model guarantees that one record has all facts."""
    assert card.memory_gb is not None
    assert card.fp8 is not None
    gb = card.memory_gb / card.devices
    return CardFacts(
        id=card.id,
        title=card.title,
        vendor=card.vendor,
        memory_gb=gb,
        unified=card.unified,
        devices=card.devices,
        memory_kind=card.memory_kind,
        bandwidth_gbs=_per_device(card.bandwidth_gbs, card.devices),
        bf16=card.bf16,
        fp8=card.fp8,
        matrix=card.matrix or "none",
        watts=card.watts,
        prices=card.prices,
        cloud=card.cloud,
        notes=card.notes,
        checked=card.checked,
        confidence=card.confidence,
        sources=card.sources,
        modes=fit_modes(memory, gb),
    )


def nearest_rivals(gpu: Gpu, cards: Iterable[Card]) -> tuple[Sequence[Card], str]:
    """The NVIDIA cards with the most similar memory size, and the reason for the selection."""
    rivals = [card for card in cards if not card.is_amd]
    if gpu.vram_gb is None:
        return [card for card in rivals if card.unified], "they share the system's memory, too"
    vram, dedicated = gpu.vram_gb, [card for card in rivals if not card.unified]
    distance = {card.id: abs((card.memory_gb or 0) - vram) for card in dedicated}
    least = min(distance.values(), default=0)
    return [card for card in dedicated if distance[card.id] == least], f"memory nearest to {vram} GB"


def _per_device(figure: float | None, devices: int) -> float | None:
    return None if figure is None else figure / devices
