"""Conditions on GPUs: drivers, memory, modes, and integrated GPUs."""

from __future__ import annotations

from rocm3d.host.facts import Facts, NotKnownError, Reading, gib, number, words
from rocm3d.model.condition import Condition
from rocm3d.model.snapshot import GraphicsCard

_DRIVER = "amdgpu"


def without_driver(facts: Facts, _: Condition) -> Reading | None:
    """An AMD GPU that has no driver, or another one than amdgpu."""
    bare = [card for card in facts.snapshot.gpus if not card.kfd and card.driver != _DRIVER]
    seen = tuple(f"{card.pci}: driver {card.driver or 'none'}" for card in bare)
    return Reading(seen, {"pci": bare[0].pci}) if bare else None


def without_compute_node(facts: Facts, _: Condition) -> Reading | None:
    """amdgpu has the GPU, but the compute driver (KFD) does not."""
    bare = [card for card in facts.snapshot.gpus if not card.kfd and card.driver == _DRIVER]
    seen = tuple(f"{card.pci}: driver amdgpu, no node in /sys/class/kfd" for card in bare)
    return Reading(seen, {"pci": bare[0].pci}) if bare else None


def integrated_beside_discrete(facts: Facts, _: Condition) -> Reading | None:
    """Programs see an integrated and a discrete GPU, because no mask hides the integrated one."""
    inside = [card for card in facts.snapshot.gpus if card.integrated and card.kfd]
    beside = [card for card in facts.snapshot.gpus if not card.integrated and card.kfd]
    if not inside or not beside or (facts.plan and facts.plan.gpu.gfx in {card.gfx for card in inside}):
        return None
    mask = facts.variable("ROCR_VISIBLE_DEVICES")
    if mask is not None and not any(_chosen(card, mask) for card in inside):
        return None
    seen = [f"node {card.node} {card.gfx or 'unknown gfx'} at {card.pci}: integrated" for card in inside]
    seen += [f"node {card.node} {card.gfx or 'unknown gfx'} at {card.pci}: discrete" for card in beside]
    devices = ",".join(card.uuid or str(card.rocr_index) for card in beside)
    return Reading(tuple(seen), {"devices": devices})


def _chosen(card: GraphicsCard, mask: str) -> bool:
    return bool({card.uuid.lower(), str(card.rocr_index)} & {word.strip().lower() for word in mask.split(",")})


def without_atomics(facts: Facts, _: Condition) -> Reading | None:
    """The PCIe link to the CPU does not support atomics."""
    told = [card for card in facts.cards if card.atomics is not None]
    if facts.cards and not told:
        raise NotKnownError("the kernel lists no link between GPU and CPU")
    bare = [card for card in told if not card.atomics]
    seen = tuple(f"node {card.node} at {card.pci}: the link has no atomics" for card in bare)
    return Reading(seen, {"pci": bare[0].pci}) if bare else None


def small_window(facts: Facts, _: Condition) -> Reading | None:
    """The CPU can access only a part of the VRAM (small BAR)."""
    cards = [card for card in facts.snapshot.gpus if not card.integrated and card.visible_bytes and card.vram_bytes]
    if not cards:
        raise NotKnownError("the driver does not report how much VRAM is visible to the CPU")
    narrow = [card for card in cards if card.visible_bytes < card.vram_bytes * 0.9]
    seen = tuple(f"{card.pci}: {gib(card.visible_bytes)} of {gib(card.vram_bytes)} visible" for card in narrow)
    return Reading(seen) if narrow else None


def in_partitions(facts: Facts, condition: Condition) -> Reading | None:
    """A card is split into compute partitions, each with a part of the compute units."""
    split = [card for card in facts.cards if card.compute_partition not in ("", *words(condition, "whole"))]
    seen = tuple(f"{card.pci}: compute partition {card.compute_partition}" for card in split)
    return Reading(seen, {"pci": split[0].pci, "mode": split[0].compute_partition}) if split else None


def held_at_level(facts: Facts, condition: Condition) -> Reading | None:
    """The clocks are fixed at a performance level."""
    held = [card for card in facts.cards if card.performance_level in words(condition, "levels")]
    seen = tuple(f"{card.pci}: performance level {card.performance_level}" for card in held)
    return Reading(seen, {"pci": held[0].pci}) if held else None


def little_shared_memory(facts: Facts, condition: Condition) -> Reading | None:
    """An integrated GPU may map only a part of the main memory."""
    cards = [card for card in facts.cards if card.integrated]
    if not cards:
        return None
    total = facts.snapshot.processor.memory_bytes
    if not total or not all(card.gtt_bytes for card in cards):
        raise NotKnownError("the driver does not report how much memory the GPU may map")
    low = [card for card in cards if 100 * card.gtt_bytes < number(condition, "percent") * total]
    seen = tuple(f"{card.pci}: {gib(card.gtt_bytes)} of {gib(total)} may be mapped" for card in low)
    # Pages of 4 KiB for 90 % of the memory.
    return Reading(seen, {"pages": str(total * 9 // 10 // 4096)}) if low else None
