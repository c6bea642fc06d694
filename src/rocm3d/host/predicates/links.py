"""Conditions on the PCIe link of a card: width, bridges, and the IOMMU."""

from __future__ import annotations

from rocm3d.host.facts import MachineFacts, NotKnownError, Reading, integer_parameter, text_parameters
from rocm3d.model.condition import Condition
from rocm3d.model.snapshot import GraphicsCard


def _discrete_cards(facts: MachineFacts) -> list[GraphicsCard]:
    return [card for card in facts.snapshot.gpus if not card.integrated and card.kfd]


def _cards_with_width(facts: MachineFacts) -> list[GraphicsCard]:
    cards = [card for card in _discrete_cards(facts) if card.width]
    if _discrete_cards(facts) and not cards:
        raise NotKnownError("the kernel does not report the width of the links")
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
    narrow = [
        card
        for card in _cards_with_width(facts)
        if card.width < min(integer_parameter(condition, "least"), card.max_width or 99)
    ]
    return Reading(tuple(map(_link_text, narrow)), {"pci": narrow[0].pci}) if narrow else None


def behind_bridge(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A bridge with one of the listed ids is between card and CPU."""
    kinds = set(text_parameters(condition, "bridges"))
    matches = [(card, bridge) for card in _discrete_cards(facts) for bridge in card.bridges if bridge.id in kinds]
    observations = tuple(f"{card.pci} is behind bridge {bridge.id} at {bridge.pci}" for card, bridge in matches)
    return Reading(tuple(dict.fromkeys(observations)), {"pci": matches[0][0].pci}) if matches else None


def iommu_translates(facts: MachineFacts, condition: Condition) -> Reading | None:
    """The IOMMU is on and not in pass-through mode."""
    boot = facts.snapshot.boot
    if set(boot) & set(text_parameters(condition, "sound")):
        return None
    kinds = {card.iommu for card in _discrete_cards(facts)}
    if kinds <= {"", "identity"}:
        return None  # off, or pass-through by the kernel's default
    observations = [f"{card.pci}: IOMMU domain {card.iommu}" for card in _discrete_cards(facts) if card.iommu]
    iommu_parameters = [parameter for parameter in boot if "iommu" in parameter]
    return Reading((*observations, f"boot parameters: {' '.join(iommu_parameters) or 'none for the IOMMU'}"))
