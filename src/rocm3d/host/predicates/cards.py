"""Conditions on GPUs: drivers, memory, modes, integrated GPUs, links to the CPU, and access to their device files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rocm3d.host.facts import (
    MachineFacts,
    NotKnownError,
    Reading,
    format_bytes,
    integer_parameter,
    require,
    text_parameters,
)
from rocm3d.model.condition import Condition
from rocm3d.model.snapshot import GraphicsCard

_DRIVER = "amdgpu"


def _reading(cards: Sequence[GraphicsCard], describe: Callable[[GraphicsCard], str], **values: str) -> Reading | None:
    """One observation per card, and the address of the first; None if there are no cards."""
    return Reading(tuple(map(describe, cards)), {"pci": cards[0].pci, **values}) if cards else None


def without_driver(facts: MachineFacts, _: Condition) -> Reading | None:
    """An AMD GPU that has no driver, or another one than amdgpu."""
    cards = [card for card in facts.snapshot.gpus if not card.kfd and card.driver != _DRIVER]
    return _reading(cards, lambda card: f"{card.pci}: driver {card.driver or 'none'}")


def without_compute_node(facts: MachineFacts, _: Condition) -> Reading | None:
    """amdgpu has the GPU, but the compute driver (KFD) does not."""
    cards = [card for card in facts.snapshot.gpus if not card.kfd and card.driver == _DRIVER]
    return _reading(cards, lambda card: f"{card.pci}: driver amdgpu, no node in /sys/class/kfd")


def integrated_beside_discrete(facts: MachineFacts, _: Condition) -> Reading | None:
    """Programs see an integrated and a discrete GPU, because no mask hides the integrated one."""
    integrated, discrete = [card for card in facts.snapshot.gpus if card.integrated and card.kfd], facts.discrete_cards
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
    require(with_link or not facts.cards, "the kernel lists no link between GPU and CPU")
    affected = [card for card in with_link if not card.atomics]
    return _reading(affected, lambda card: f"node {card.node} at {card.pci}: the link has no atomics")


def small_window(facts: MachineFacts, _: Condition) -> Reading | None:
    """The CPU can access only a part of the VRAM (small BAR)."""
    cards = [card for card in facts.snapshot.gpus if not card.integrated and card.visible_bytes and card.vram_bytes]
    require(cards, "the driver does not report how much VRAM is visible to the CPU")
    return _reading(
        [card for card in cards if card.visible_bytes < card.vram_bytes * 0.9],
        lambda card: f"{card.pci}: {format_bytes(card.visible_bytes)} of {format_bytes(card.vram_bytes)} visible",
    )


def in_partitions(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A card is split into compute partitions, each with a part of the compute units."""
    split = [card for card in facts.cards if card.compute_partition not in ("", *text_parameters(condition, "whole"))]
    mode = split[0].compute_partition if split else ""
    return _reading(split, lambda card: f"{card.pci}: compute partition {card.compute_partition}", mode=mode)


def held_at_level(facts: MachineFacts, condition: Condition) -> Reading | None:
    """The clocks are fixed at a performance level."""
    held = [card for card in facts.cards if card.performance_level in text_parameters(condition, "levels")]
    return _reading(held, lambda card: f"{card.pci}: performance level {card.performance_level}")


def little_shared_memory(facts: MachineFacts, condition: Condition) -> Reading | None:
    """An integrated GPU may map only a part of the main memory."""
    cards = [card for card in facts.cards if card.integrated]
    if not cards:
        return None
    total = facts.snapshot.processor.memory_bytes
    if not total or not all(card.gtt_bytes for card in cards):
        raise NotKnownError("the driver does not report how much memory the GPU may map")
    low = [card for card in cards if 100 * card.gtt_bytes < integer_parameter(condition, "percent") * total]
    # Pages of 4 KiB for 90 % of the memory.
    pages = str(total * 9 // 10 // 4096)
    return _reading(
        low,
        lambda card: f"{card.pci}: {format_bytes(card.gtt_bytes)} of {format_bytes(total)} may be mapped",
        pages=pages,
    )


def _cards_with_width(facts: MachineFacts) -> list[GraphicsCard]:
    cards = [card for card in facts.discrete_cards if card.width]
    require(cards or not facts.discrete_cards, "the kernel does not report the width of the links")
    return cards


def _link_text(card: GraphicsCard) -> str:
    most = f" of {card.max_width}" if card.max_width else ""
    return f"{card.pci}: {card.width}{most} lanes at {card.speed:g} GT/s"


def widths_differ(facts: MachineFacts, _: Condition) -> Reading | None:
    """Cards have links of different width."""
    cards = _cards_with_width(facts)
    return Reading(tuple(map(_link_text, cards))) if len({card.width for card in cards}) > 1 else None


def narrow_link(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A card has fewer lanes than a normal slot provides."""
    least = integer_parameter(condition, "least")
    narrow = [card for card in _cards_with_width(facts) if card.width < min(least, card.max_width or 99)]
    return _reading(narrow, _link_text)


def behind_bridge(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A bridge with one of the listed ids is between card and CPU."""
    kinds = set(text_parameters(condition, "bridges"))
    matches = [(card, bridge) for card in facts.discrete_cards for bridge in card.bridges if bridge.id in kinds]
    observations = tuple(f"{card.pci} is behind bridge {bridge.id} at {bridge.pci}" for card, bridge in matches)
    return Reading(tuple(dict.fromkeys(observations)), {"pci": matches[0][0].pci}) if matches else None


def iommu_translates(facts: MachineFacts, condition: Condition) -> Reading | None:
    """The IOMMU is on and not in pass-through mode."""
    boot = facts.snapshot.boot
    if set(boot) & set(text_parameters(condition, "sound")):
        return None
    if {card.iommu for card in facts.discrete_cards} <= {"", "identity"}:
        return None  # off, or pass-through by the kernel's default
    observations = [f"{card.pci}: IOMMU domain {card.iommu}" for card in facts.discrete_cards if card.iommu]
    iommu_parameters = [parameter for parameter in boot if "iommu" in parameter]
    return Reading((*observations, f"boot parameters: {' '.join(iommu_parameters) or 'none for the IOMMU'}"))


def device_absent(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A device file is missing although the kernel has a GPU."""
    missing = [path for path in text_parameters(condition, "paths") if facts.snapshot.device(path) is None]
    has_node = any(card.kfd for card in facts.snapshot.gpus) or bool(facts.snapshot.wsl)
    return Reading(tuple(f"{path} is missing" for path in missing)) if missing and has_node else None


def render_node_absent(facts: MachineFacts, _: Condition) -> Reading | None:
    """A GPU of the KFD topology has no render node in /dev/dri."""
    missing = [
        (card, path)
        for card in facts.cards
        if card.render_minor and facts.snapshot.device(path := f"/dev/dri/renderD{card.render_minor}") is None
    ]
    observations = tuple(f"node {card.node} at {card.pci}: {path} is missing" for card, path in missing)
    return Reading(observations, {"devices": " ".join(f"--device={path}" for _, path in missing)}) if missing else None


def device_denied(facts: MachineFacts, _: Condition) -> Reading | None:
    """A device file exists, but the user may not open it."""
    denied = [device for device in facts.snapshot.devices if not device.usable]
    observations = tuple(f"{device.path}: {device.mode}, group {device.group}, no access" for device in denied)
    groups = dict.fromkeys(device.group for device in denied)
    values = {"groups": ",".join(groups), "adds": " ".join(f"--group-add {name}" for name in groups)}
    return Reading(observations, values) if denied else None


def access_by_seat(facts: MachineFacts, _: Condition) -> Reading | None:
    """Access only through the login session, not through a group: jobs started over SSH have no access."""
    if facts.snapshot.root:
        return None
    session_only = [
        device
        for device in facts.snapshot.devices
        if device.usable and not device.member and not device.mode.endswith("rw-")
    ]
    observations = tuple(
        f"{device.path}: accessible, but the user is not in the group {device.group}" for device in session_only
    )
    groups = ",".join(dict.fromkeys(device.group for device in session_only))
    return Reading(observations, {"groups": groups}) if session_only else None
