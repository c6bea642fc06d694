"""Tuning advice for the CPU: which cores, how many data loader workers, what to cache in memory."""

from __future__ import annotations

from rocm3d.host.facts import GIB, MachineFacts, NotKnownError, Reading, format_bytes, integer_parameter
from rocm3d.model.condition import Condition


def unequal_l3(facts: MachineFacts, _: Condition) -> Reading | None:
    """Some cores have a larger L3 cache than others (3D V-Cache on one chiplet)."""
    groups = facts.snapshot.processor.l3
    if not groups:
        raise NotKnownError("the kernel does not report L3 caches")
    sizes = sorted({group.kib for group in groups})
    if len(sizes) < 2:
        return None
    observations = tuple(f"CPUs {group.cpus}: {group.kib >> 10} MiB of L3" for group in groups)
    large = ",".join(group.cpus for group in groups if group.kib == sizes[-1])
    return Reading((facts.snapshot.processor.model, *observations), {"cpus": large})


def cards_by_node(facts: MachineFacts, _: Condition) -> Reading | None:
    """Cards are on different NUMA nodes, each with its own local CPUs."""
    cards = [card for card in facts.cards if card.numa_node >= 0 and card.cpus]
    if len({card.numa_node for card in cards}) < 2:
        return None
    observations = tuple(f"{card.pci}: NUMA node {card.numa_node}, CPUs {card.cpus}" for card in cards)
    first = {card.numa_node: card for card in reversed(cards)}
    lines = "; ".join(
        f"ROCR_VISIBLE_DEVICES={card.uuid or card.rocr_index} taskset -c {card.cpus} COMMAND"
        for _, card in sorted(first.items())[:2]
    )
    return Reading(observations, {"lines": lines})


def workers(facts: MachineFacts, condition: Condition) -> Reading | None:
    """Number of data loader workers per card, and whether the data set fits into memory."""
    processor, cards = facts.snapshot.processor, max(1, len(facts.cards))
    if not processor.usable_cpus:
        raise NotKnownError("the kernel does not report the number of CPUs")
    workers_per_card = max(1, min(integer_parameter(condition, "most"), processor.usable_cpus // cards - 1))
    free = min(processor.available_bytes, processor.memory_limit or processor.available_bytes)
    # Half of the free memory, divided among the cards; the rest is for workers and pinned copies.
    data_bytes = free // 2 // cards
    shared = any(card.integrated for card in facts.cards)
    advice = (
        "no data set: GPU and CPU share one memory" if shared else f"a data set of up to {format_bytes(data_bytes)}"
    )
    if data_bytes < GIB:
        advice = "no data set: too little memory is free"
    observations = (f"CPUs: {processor.usable_cpus}, GPUs: {cards}", f"{format_bytes(free)} of main memory free")
    return Reading(observations, {"workers": str(workers_per_card), "keep": advice})
