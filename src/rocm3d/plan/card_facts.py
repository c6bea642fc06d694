"""The facts about a card that a comparison needs, and the NVIDIA cards to compare an AMD card with.

Its memory against each mode of a repository: what fits, how many jobs at once, and what to do otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.card import Card
from rocm3d.model.fit import CardFacts, FitMemory
from rocm3d.model.port import MemoryNeed
from rocm3d.model.target import Gpu

# The usable share of a card's memory; the remainder is for the driver, fragmentation and larger inputs.
HEADROOM = Decimal(9) / 10

UNKNOWN = "not a known repository; its memory needs are unknown"
NOT_MEASURED = "its memory needs were not measured"
SHARED_MEMORY = (
    "this GPU shares the system's memory: what fits, and how many jobs at once, depends on the memory that the "
    "machine has and lets the GPU use"
)
JOBS_RULE = (
    f"jobs at once: how many times a mode fits into {HEADROOM:.0%} of the memory of one device; "
    "this does not consider their speed"
)


def devices_of(gpu: Gpu, knowledge: Knowledge) -> int:
    """The number of GPUs that a program sees on this card."""
    card = knowledge.cards.get(gpu.product)
    return 1 if card is None else card.devices


def facts_of_gpu(gpu: Gpu, knowledge: Knowledge, memory: Iterable[MemoryNeed] = ()) -> CardFacts:
    """An AMD card, from the record of its target and, if present, its own record. `checked` is the older date."""
    target, card = knowledge.targets[gpu.gfx], knowledge.cards.get(gpu.product)
    devices = devices_of(gpu, knowledge)
    records = [target] if card is None else [target, card]
    weakest = "inferred" if any(record.confidence == "inferred" for record in records) else target.confidence
    gb = per_device(gpu.vram_gb, devices)
    return CardFacts(
        id=gpu.product,
        title=gpu.title,
        vendor="amd",
        target=gpu.gfx,
        memory_gb=gb,
        unified=gpu.vram_gb is None,
        devices=devices,
        memory_kind="" if card is None else card.memory_kind,
        bandwidth_gbs=None if card is None else per_device(card.bandwidth_gbs, devices),
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
        bandwidth_gbs=per_device(card.bandwidth_gbs, card.devices),
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


def per_device(figure: float | None, devices: int) -> float | None:
    """The share of one device in the memory or bandwidth of a card; None if that is unknown."""
    return None if figure is None else figure / devices


def fit_modes(memory: Iterable[MemoryNeed], gb: float | None) -> tuple[FitMemory, ...]:
    """Each mode against the memory of one device in GB; None for a GPU that shares the system's memory."""
    return tuple(_fit_mode(mode, gb) for mode in memory)


def _fit_mode(mode: MemoryNeed, gb: float | None) -> FitMemory:
    fits = None if gb is None else mode.gb <= gb
    return FitMemory(
        mode=mode.mode,
        gb=mode.gb,
        fits=fits,
        tight=bool(fits) and gb is not None and _fit_count(mode.gb, gb) == 0,
        jobs=None if gb is None else concurrent_jobs(mode.gb, gb),
        offload=mode.offload,
        known=mode.known,
        source=mode.source.where,
    )


def concurrent_jobs(need: float, gb: float) -> int:
    """How many jobs fit at once: at least 1 if the job fits without headroom."""
    return max(_fit_count(need, gb), 1 if need <= gb else 0)


def _fit_count(need: float, gb: float) -> int:
    # Decimal, so that 21.6 of 24 GB is exactly the limit despite rounding.
    return int(HEADROOM * Decimal(str(gb)) / Decimal(str(need)))


def memory_notes(modes: Sequence[FitMemory], gb: float | None, devices: int) -> tuple[str, ...]:
    if not modes:
        return (NOT_MEASURED,)
    if gb is None:
        return (SHARED_MEMORY,)
    if devices > 1:
        return (f"a program sees this card as {devices} devices of {gb:g} GB each; a mode must fit into one", JOBS_RULE)
    return (JOBS_RULE,)


def offload_advice(modes: Sequence[FitMemory], gb: float | None) -> tuple[str, ...]:
    """What to do about modes that do not fit."""
    if not modes or gb is None:
        return ()
    too_large, fitting = [mode for mode in modes if not mode.fits], [mode for mode in modes if mode.fits]
    if not too_large:
        return ("every known mode fits: no offloading needed",)
    if not fitting:
        smallest = min(modes, key=lambda mode: mode.gb)
        return (f"no known mode fits in {gb:g} GB; {smallest.mode} needs the least, {smallest.gb:g} GB",)
    return (
        f"does not fit in {gb:g} GB: {_mode_list(too_large)}; fits: {_mode_list(fitting)}",
        *(
            f"{mode.mode} keeps part of the weights in system memory: slower, and needs that memory"
            for mode in fitting
            if mode.offload
        ),
    )


def _mode_list(modes: Iterable[FitMemory]) -> str:
    return ", ".join(f"{mode.mode} ({mode.gb:g} GB)" for mode in modes)
