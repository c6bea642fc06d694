"""Conditions on GPUs: drivers, memory, modes, and integrated GPUs."""

from __future__ import annotations

from rocm3d.host.facts import MachineFacts, NotKnownError, Reading, format_bytes, integer_parameter, text_parameters
from rocm3d.model.condition import Condition
from rocm3d.model.snapshot import GraphicsCard

_DRIVER = "amdgpu"


def without_driver(facts: MachineFacts, _: Condition) -> Reading | None:
    """An AMD GPU that has no driver, or another one than amdgpu."""
    cards = [card for card in facts.snapshot.gpus if not card.kfd and card.driver != _DRIVER]
    observations = tuple(f"{card.pci}: driver {card.driver or 'none'}" for card in cards)
    return Reading(observations, {"pci": cards[0].pci}) if cards else None


def without_compute_node(facts: MachineFacts, _: Condition) -> Reading | None:
    """amdgpu has the GPU, but the compute driver (KFD) does not."""
    cards = [card for card in facts.snapshot.gpus if not card.kfd and card.driver == _DRIVER]
    observations = tuple(f"{card.pci}: driver amdgpu, no node in /sys/class/kfd" for card in cards)
    return Reading(observations, {"pci": cards[0].pci}) if cards else None


def integrated_beside_discrete(facts: MachineFacts, _: Condition) -> Reading | None:
    """Programs see an integrated and a discrete GPU, because no mask hides the integrated one."""
    integrated = [card for card in facts.snapshot.gpus if card.integrated and card.kfd]
    discrete = [card for card in facts.snapshot.gpus if not card.integrated and card.kfd]
    if not integrated or not discrete or (facts.plan and facts.plan.gpu.gfx in {card.gfx for card in integrated}):
        return None
    mask = facts.variable("ROCR_VISIBLE_DEVICES")
    if mask is not None and not any(_is_selected(card, mask) for card in integrated):
        return None
    observations = [f"node {card.node} {card.gfx or 'unknown gfx'} at {card.pci}: integrated" for card in integrated]
    observations += [f"node {card.node} {card.gfx or 'unknown gfx'} at {card.pci}: discrete" for card in discrete]
    devices = ",".join(card.uuid or str(card.rocr_index) for card in discrete)
    return Reading(tuple(observations), {"devices": devices})


def _is_selected(card: GraphicsCard, mask: str) -> bool:
    return bool({card.uuid.lower(), str(card.rocr_index)} & {entry.strip().lower() for entry in mask.split(",")})


def without_atomics(facts: MachineFacts, _: Condition) -> Reading | None:
    """The PCIe link to the CPU does not support atomics."""
    with_link = [card for card in facts.cards if card.atomics is not None]
    if facts.cards and not with_link:
        raise NotKnownError("the kernel lists no link between GPU and CPU")
    affected = [card for card in with_link if not card.atomics]
    observations = tuple(f"node {card.node} at {card.pci}: the link has no atomics" for card in affected)
    return Reading(observations, {"pci": affected[0].pci}) if affected else None


def small_window(facts: MachineFacts, _: Condition) -> Reading | None:
    """The CPU can access only a part of the VRAM (small BAR)."""
    cards = [card for card in facts.snapshot.gpus if not card.integrated and card.visible_bytes and card.vram_bytes]
    if not cards:
        raise NotKnownError("the driver does not report how much VRAM is visible to the CPU")
    narrow = [card for card in cards if card.visible_bytes < card.vram_bytes * 0.9]
    observations = tuple(
        f"{card.pci}: {format_bytes(card.visible_bytes)} of {format_bytes(card.vram_bytes)} visible" for card in narrow
    )
    return Reading(observations) if narrow else None


def in_partitions(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A card is split into compute partitions, each with a part of the compute units."""
    split = [card for card in facts.cards if card.compute_partition not in ("", *text_parameters(condition, "whole"))]
    observations = tuple(f"{card.pci}: compute partition {card.compute_partition}" for card in split)
    return Reading(observations, {"pci": split[0].pci, "mode": split[0].compute_partition}) if split else None


def held_at_level(facts: MachineFacts, condition: Condition) -> Reading | None:
    """The clocks are fixed at a performance level."""
    held = [card for card in facts.cards if card.performance_level in text_parameters(condition, "levels")]
    observations = tuple(f"{card.pci}: performance level {card.performance_level}" for card in held)
    return Reading(observations, {"pci": held[0].pci}) if held else None


def little_shared_memory(facts: MachineFacts, condition: Condition) -> Reading | None:
    """An integrated GPU may map only a part of the main memory."""
    cards = [card for card in facts.cards if card.integrated]
    if not cards:
        return None
    total = facts.snapshot.processor.memory_bytes
    if not total or not all(card.gtt_bytes for card in cards):
        raise NotKnownError("the driver does not report how much memory the GPU may map")
    low = [card for card in cards if 100 * card.gtt_bytes < integer_parameter(condition, "percent") * total]
    observations = tuple(
        f"{card.pci}: {format_bytes(card.gtt_bytes)} of {format_bytes(total)} may be mapped" for card in low
    )
    # Pages of 4 KiB for 90 % of the memory.
    return Reading(observations, {"pages": str(total * 9 // 10 // 4096)}) if low else None
