"""Conditions on main memory, shared memory, and the folders of kernel caches."""

# ruff: noqa: S108  (not a temporary file: the mount /dev/shm is checked)
from __future__ import annotations

from rocm3d.host.facts import GIB, Facts, NotKnownError, Reading, gib, number, shell, words
from rocm3d.model.condition import Condition


def _memory(facts: Facts) -> tuple[int, str]:
    """Memory limit of a program in bytes, and a text with its origin."""
    processor = facts.snapshot.processor
    if not processor.memory_bytes:
        raise NotKnownError("the kernel does not report the size of the memory")
    if 0 < processor.memory_limit < processor.memory_bytes:
        return processor.memory_limit, f"{gib(processor.memory_limit)} (limit of the container or service)"
    return processor.memory_bytes, f"{gib(processor.memory_bytes)} of main memory"


def little_shm(facts: Facts, condition: Condition) -> Reading | None:
    """/dev/shm is smaller than required."""
    size, least = facts.snapshot.processor.shm_bytes, number(condition, "mib") << 20
    if not size:
        raise NotKnownError("/dev/shm is not a separate mount")
    return Reading((f"/dev/shm has {gib(size)}",)) if size < least else None


def less_memory_than_vram(facts: Facts, _: Condition) -> Reading | None:
    """Main memory is smaller than the VRAM of one card."""
    memory, told = _memory(facts)
    largest = max((card.vram_bytes for card in facts.known_cards if not card.integrated), default=0)
    return Reading((told, f"{gib(largest)} on one card")) if memory < largest else None


def limited_memory(facts: Facts, _: Condition) -> Reading | None:
    """A memory limit is below the VRAM of the largest card, although the machine has enough memory."""
    processor = facts.snapshot.processor
    largest = max((card.vram_bytes for card in facts.known_cards if not card.integrated), default=0)
    if not 0 < processor.memory_limit < largest <= processor.memory_bytes:
        return None
    seen = f"limit {gib(processor.memory_limit)}, machine {gib(processor.memory_bytes)}, one card {gib(largest)}"
    return Reading((seen,), {"gib": str(-(-largest // GIB))})


def little_memory_to_build(facts: Facts, condition: Condition) -> Reading | None:
    """The plan compiles, and one compiler process per CPU does not fit into memory."""
    if not facts.builds:
        return None
    memory, told = _memory(facts)
    cpus, each = facts.snapshot.processor.usable_cpus, number(condition, "gib") * GIB
    jobs = max(1, memory // each)
    if not cpus or cpus <= jobs or facts.variable("MAX_JOBS"):
        return None
    seen = (told, f"{cpus} CPUs", f"the plan compiles {', '.join(facts.builds[:6])}")
    return Reading(seen, {"jobs": str(jobs)})


def cache_shut(facts: Facts, condition: Condition) -> Reading | None:
    """The kernel cache of a library is not writable."""
    wanted = words(condition, "variables")
    shut = [cache for cache in facts.snapshot.caches if cache.variable in wanted and not cache.writable]
    seen = tuple(f"{cache.path} is not writable ({cache.variable})" for cache in shut)
    return Reading(seen, {"variable": shut[0].variable, "path": shell(shut[0].path)}) if shut else None


def cache_on_network(facts: Facts, condition: Condition) -> Reading | None:
    """A kernel cache is on a network filesystem, which other machines may write to."""
    kinds = words(condition, "filesystems")
    shared = [cache for cache in facts.snapshot.caches if cache.filesystem in kinds]
    seen = tuple(f"{cache.path} is on {cache.filesystem} ({cache.variable})" for cache in shared)
    values = {"lines": "; ".join(f"export {cache.variable}=/var/tmp/{cache.variable.lower()}" for cache in shared)}
    return Reading(seen, values) if shared else None
