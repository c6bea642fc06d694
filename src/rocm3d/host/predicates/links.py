"""Conditions on the PCIe link of a card: width, bridges, and the IOMMU."""

from __future__ import annotations

from rocm3d.host.facts import Facts, NotKnownError, Reading, number, words
from rocm3d.model.condition import Condition
from rocm3d.model.snapshot import GraphicsCard


def _discrete(facts: Facts) -> list[GraphicsCard]:
    return [card for card in facts.snapshot.gpus if not card.integrated and card.kfd]


def _with_width(facts: Facts) -> list[GraphicsCard]:
    found = [card for card in _discrete(facts) if card.width]
    if _discrete(facts) and not found:
        raise NotKnownError("the kernel does not report the width of the links")
    return found


def _told(card: GraphicsCard) -> str:
    most = f" of {card.max_width}" if card.max_width else ""
    return f"{card.pci}: {card.width}{most} lanes at {card.speed:g} GT/s"


def widths_differ(facts: Facts, _: Condition) -> Reading | None:
    """Cards have links of different width."""
    cards = _with_width(facts)
    return Reading(tuple(map(_told, cards))) if len({card.width for card in cards}) > 1 else None


def narrow_link(facts: Facts, condition: Condition) -> Reading | None:
    """A card has fewer lanes than a normal slot provides."""
    narrow = [card for card in _with_width(facts) if card.width < min(number(condition, "least"), card.max_width or 99)]
    return Reading(tuple(map(_told, narrow)), {"pci": narrow[0].pci}) if narrow else None


def behind_bridge(facts: Facts, condition: Condition) -> Reading | None:
    """A bridge with one of the listed ids is between card and CPU."""
    kinds = set(words(condition, "bridges"))
    found = [(card, bridge) for card in _discrete(facts) for bridge in card.bridges if bridge.id in kinds]
    seen = tuple(f"{card.pci} is behind bridge {bridge.id} at {bridge.pci}" for card, bridge in found)
    return Reading(tuple(dict.fromkeys(seen)), {"pci": found[0][0].pci}) if found else None


def iommu_translates(facts: Facts, condition: Condition) -> Reading | None:
    """The IOMMU is on and not in pass-through mode."""
    boot = facts.snapshot.boot
    if set(boot) & set(words(condition, "sound")):
        return None
    kinds = {card.iommu for card in _discrete(facts)}
    if kinds <= {"", "identity"}:
        return None  # off, or pass-through by the kernel's default
    seen = [f"{card.pci}: IOMMU domain {card.iommu}" for card in _discrete(facts) if card.iommu]
    given = [word for word in boot if "iommu" in word]
    return Reading((*seen, f"boot parameters: {' '.join(given) or 'none for the IOMMU'}"))
