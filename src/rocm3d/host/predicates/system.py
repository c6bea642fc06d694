"""Conditions on the kernel and its boot parameters, WSL, main memory, kernel caches, and tuning advice for the CPU."""

# ruff: noqa: S108  (not a temporary file: the mount /dev/shm is checked)
from __future__ import annotations

import re

from packaging.version import Version

from rocm3d.host.facts import (
    GIB,
    MachineFacts,
    NotKnownError,
    Reading,
    format_bytes,
    integer_parameter,
    parse_version,
    require,
    shell_quote,
    text_parameters,
)
from rocm3d.model.condition import Condition


def kernel_older(facts: MachineFacts, condition: Condition) -> Reading | None:
    """The kernel is older than a target needs. A separately installed driver has its own version and is not checked."""
    match = re.match(r"\d+(\.\d+)+", facts.snapshot.kernel)
    kernel = parse_version(match.group()) if match else None
    if kernel is None:
        raise NotKnownError("the version of the kernel is unknown")
    if facts.snapshot.driver:
        return None
    if re.search(r"\.el\d|-oem\b", facts.snapshot.kernel):
        raise NotKnownError(f"Linux {facts.snapshot.kernel} contains drivers of later kernels")
    needs = [(gfx, Version(least)) for gfx, least in (entry.split() for entry in text_parameters(condition, "least"))]
    unsupported = [(gfx, least) for gfx, least in needs if gfx in facts.targets and kernel < least]
    observations = tuple(
        f"Linux {facts.snapshot.kernel}, in-tree amdgpu; {gfx} needs {least}" for gfx, least in unsupported
    )
    return Reading(observations, {"least": str(max(least for _, least in unsupported))}) if unsupported else None


def booted_with(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A boot parameter disables the driver."""
    parameters = [parameter for parameter in facts.snapshot.boot if parameter in text_parameters(condition, "words")]
    return Reading((f"boot parameters: {' '.join(parameters)}",), {"word": parameters[0]}) if parameters else None


def balances_numa(facts: MachineFacts, _: Condition) -> Reading | None:
    """NUMA balancing is on, on a machine with several nodes."""
    processor = facts.snapshot.processor
    require(processor.numa_balancing, "the kernel does not report NUMA balancing")
    if processor.numa_nodes < 2 or processor.numa_balancing == "0":
        return None
    return Reading((f"numa_balancing is {processor.numa_balancing} on {processor.numa_nodes} nodes",))


def first_wsl(facts: MachineFacts, _: Condition) -> Reading | None:
    """The machine is WSL 1, which has no GPU access."""
    return Reading((f"Linux {facts.snapshot.kernel}: WSL 1",)) if facts.snapshot.wsl == "1" else None


def _usable_memory(facts: MachineFacts) -> tuple[int, str]:
    """Memory limit of a program in bytes, and a text with its origin."""
    processor = facts.snapshot.processor
    require(processor.memory_bytes, "the kernel does not report the size of the memory")
    if 0 < processor.memory_limit < processor.memory_bytes:
        return processor.memory_limit, f"{format_bytes(processor.memory_limit)} (limit of the container or service)"
    return processor.memory_bytes, f"{format_bytes(processor.memory_bytes)} of main memory"


def little_shm(facts: MachineFacts, condition: Condition) -> Reading | None:
    """/dev/shm is smaller than required."""
    size, least = facts.snapshot.processor.shm_bytes, integer_parameter(condition, "mib") << 20
    require(size, "/dev/shm is not a separate mount")
    return Reading((f"/dev/shm has {format_bytes(size)}",)) if size < least else None


def less_memory_than_vram(facts: MachineFacts, _: Condition) -> Reading | None:
    """Main memory is smaller than the VRAM of one card."""
    memory, memory_text = _usable_memory(facts)
    largest = max((card.vram_bytes for card in facts.known_cards if not card.integrated), default=0)
    return Reading((memory_text, f"{format_bytes(largest)} on one card")) if memory < largest else None


def limited_memory(facts: MachineFacts, _: Condition) -> Reading | None:
    """A memory limit is below the VRAM of the largest card, although the machine has enough memory."""
    processor = facts.snapshot.processor
    largest = max((card.vram_bytes for card in facts.known_cards if not card.integrated), default=0)
    if not 0 < processor.memory_limit < largest <= processor.memory_bytes:
        return None
    limit, total = format_bytes(processor.memory_limit), format_bytes(processor.memory_bytes)
    observation = f"limit {limit}, machine {total}, one card {format_bytes(largest)}"
    return Reading((observation,), {"gib": str(-(-largest // GIB))})


def little_memory_to_build(facts: MachineFacts, condition: Condition) -> Reading | None:
    """The plan compiles, and one compiler process per CPU does not fit into memory."""
    if not facts.builds:
        return None
    memory, memory_text = _usable_memory(facts)
    cpus, bytes_per_job = facts.snapshot.processor.usable_cpus, integer_parameter(condition, "gib") * GIB
    jobs = max(1, memory // bytes_per_job)
    if not cpus or cpus <= jobs or facts.variable("MAX_JOBS"):
        return None
    observations = (memory_text, f"{cpus} CPUs", f"the plan compiles {', '.join(facts.builds[:6])}")
    return Reading(observations, {"jobs": str(jobs)})


def cache_shut(facts: MachineFacts, condition: Condition) -> Reading | None:
    """The kernel cache of a library is not writable."""
    names = text_parameters(condition, "variables")
    read_only = [cache for cache in facts.snapshot.caches if cache.variable in names and not cache.writable]
    observations = tuple(f"{cache.path} is not writable ({cache.variable})" for cache in read_only)
    if not read_only:
        return None
    return Reading(observations, {"variable": read_only[0].variable, "path": shell_quote(read_only[0].path)})


def cache_on_network(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A kernel cache is on a network filesystem, which other machines may write to."""
    kinds = text_parameters(condition, "filesystems")
    shared = [cache for cache in facts.snapshot.caches if cache.filesystem in kinds]
    observations = tuple(f"{cache.path} is on {cache.filesystem} ({cache.variable})" for cache in shared)
    values = {"lines": "; ".join(f"export {cache.variable}=/var/tmp/{cache.variable.lower()}" for cache in shared)}
    return Reading(observations, values) if shared else None


def unequal_l3(facts: MachineFacts, _: Condition) -> Reading | None:
    """Some cores have a larger L3 cache than others (3D V-Cache on one chiplet)."""
    groups = facts.snapshot.processor.l3
    require(groups, "the kernel does not report L3 caches")
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
    require(processor.usable_cpus, "the kernel does not report the number of CPUs")
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
