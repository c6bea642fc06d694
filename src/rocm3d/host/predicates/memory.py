"""Conditions on main memory, shared memory, and the folders of kernel caches."""

# ruff: noqa: S108  (not a temporary file: the mount /dev/shm is checked)
from __future__ import annotations

from rocm3d.host.facts import (
    GIB,
    MachineFacts,
    NotKnownError,
    Reading,
    format_bytes,
    integer_parameter,
    shell_quote,
    text_parameters,
)
from rocm3d.model.condition import Condition


def _usable_memory(facts: MachineFacts) -> tuple[int, str]:
    """Memory limit of a program in bytes, and a text with its origin."""
    processor = facts.snapshot.processor
    if not processor.memory_bytes:
        raise NotKnownError("the kernel does not report the size of the memory")
    if 0 < processor.memory_limit < processor.memory_bytes:
        return processor.memory_limit, f"{format_bytes(processor.memory_limit)} (limit of the container or service)"
    return processor.memory_bytes, f"{format_bytes(processor.memory_bytes)} of main memory"


def little_shm(facts: MachineFacts, condition: Condition) -> Reading | None:
    """/dev/shm is smaller than required."""
    size, least = facts.snapshot.processor.shm_bytes, integer_parameter(condition, "mib") << 20
    if not size:
        raise NotKnownError("/dev/shm is not a separate mount")
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
    return (
        Reading(observations, {"variable": read_only[0].variable, "path": shell_quote(read_only[0].path)})
        if read_only
        else None
    )


def cache_on_network(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A kernel cache is on a network filesystem, which other machines may write to."""
    kinds = text_parameters(condition, "filesystems")
    shared = [cache for cache in facts.snapshot.caches if cache.filesystem in kinds]
    observations = tuple(f"{cache.path} is on {cache.filesystem} ({cache.variable})" for cache in shared)
    values = {"lines": "; ".join(f"export {cache.variable}=/var/tmp/{cache.variable.lower()}" for cache in shared)}
    return Reading(observations, values) if shared else None
