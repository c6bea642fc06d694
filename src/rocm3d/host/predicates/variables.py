"""Conditions on environment variables: set, set together, or with harmful values."""

from __future__ import annotations

import fnmatch
import re

from packaging.specifiers import SpecifierSet

from rocm3d.host.facts import MachineFacts, Reading, require, text_parameters
from rocm3d.model.condition import Condition
from rocm3d.model.snapshot import GraphicsCard

_OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"
_ROCR = "ROCR_VISIBLE_DEVICES"


def _set_variables(facts: MachineFacts, condition: Condition) -> dict[str, str]:
    """Variables of the condition that are set and not empty."""
    return {
        name: value for name in text_parameters(condition, "names") if (value := facts.variable(name) or "").strip()
    }


def _reading(variables: dict[str, str]) -> Reading | None:
    observations = tuple(f"{name}={value}" for name, value in variables.items())
    return Reading(observations, {"names": " ".join(variables)}) if variables else None


def set_and_on(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A variable is set and not 0 or False."""
    return _reading(
        {name: value for name, value in _set_variables(facts, condition).items() if value not in ("0", "False")}
    )


def set_to(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A variable matches one of the values, which may be glob patterns."""
    patterns = text_parameters(condition, "values")
    variables = _set_variables(facts, condition)
    return _reading(
        {n: v for n, v in variables.items() if any(fnmatch.fnmatchcase(v, pattern) for pattern in patterns)}
    )


def set_together(facts: MachineFacts, condition: Condition) -> Reading | None:
    """More than one of the variables is set."""
    variables = _set_variables(facts, condition)
    return _reading(variables) if len(variables) > 1 else None


def holds_all(facts: MachineFacts, condition: Condition) -> Reading | None:
    """The value of a variable contains all of the words."""
    required = [word.lower() for word in text_parameters(condition, "words")]
    variables = _set_variables(facts, condition)
    return _reading(
        {n: v for n, v in variables.items() if all(word in v.replace(" ", "").lower() for word in required)}
    )


def lacks_targets(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A list of targets lacks one of this machine."""
    variables = _set_variables(facts, condition)
    lists = {name: {part.partition(":")[0] for part in re.split(r"[;, ]+", value)} for name, value in variables.items()}
    require(facts.targets or not variables, "the kernel does not report the GPU's target")
    incomplete = {name: variables[name] for name, parts in lists.items() if set(facts.targets) - parts}
    reading = _reading(incomplete)
    return Reading(reading.observations, {**reading.values, "targets": ";".join(facts.targets)}) if reading else None


def override_needless(facts: MachineFacts, _: Condition) -> Reading | None:
    """The override equals the card's target, or the installed ROCm supports that target without it."""
    override = facts.variable(_OVERRIDE)
    if override is None:
        return None
    served = [card for card in facts.known_cards if card.gfx in facts.targets and _is_supported(facts, card)]
    same = [card for card in facts.cards if card.gfx == _gfx_from_version(override)]
    needless = list(dict.fromkeys(card.gfx for card in (*same, *served)))
    return Reading((f"{_OVERRIDE}={override}", f"{', '.join(needless)} needs no override")) if needless else None


def override_of_other_family(facts: MachineFacts, _: Condition) -> Reading | None:
    """The override makes a card report a target of another generation."""
    override = facts.variable(_OVERRIDE)
    override_gfx = _gfx_from_version(override) if override is not None else ""
    if override is None or (override and not override_gfx):
        return Reading((f"{_OVERRIDE}={override}: not a version",)) if override else None
    other = [card for card in facts.known_cards if card.gfx and override_gfx and card.gfx[:-2] != override_gfx[:-2]]
    observations = tuple(f"{card.gfx} at {card.pci} would report {override_gfx}" for card in other)
    return Reading((f"{_OVERRIDE}={override}", *observations)) if other else None


def override_for_unlike(facts: MachineFacts, _: Condition) -> Reading | None:
    """One override for GPUs with different targets."""
    override = facts.variable(_OVERRIDE)
    if override is None or not facts.known_cards:
        return None
    kinds = dict.fromkeys(card.gfx for card in facts.snapshot.gpus if card.gfx)
    if len(kinds) < 2:
        return None
    return Reading((f"{_OVERRIDE}={override}", f"GPUs of this machine: {', '.join(kinds)}"))


def mask_hides_all(facts: MachineFacts, condition: Condition) -> Reading | None:
    """A mask hides every GPU: it is empty, negative, or its first index does not exist."""
    cards = [card for card in facts.snapshot.gpus if card.kfd]
    require(cards, "the kernel lists no GPU")
    names = {str(card.rocr_index) for card in cards} | {card.uuid.lower() for card in cards if card.uuid}
    masks = {name: facts.variable(name) for name in text_parameters(condition, "names")}
    if masks.get(_ROCR) is not None:
        masks = {_ROCR: masks[_ROCR]}  # it changes the indices of the other masks
    hiding = {
        name: mask
        for name, mask in masks.items()
        if mask is not None and (mask or name == _ROCR) and mask.partition(",")[0].strip().lower() not in names
    }
    reading = _reading(hiding)
    available = f"GPUs of this machine: {', '.join(f'{card.rocr_index} {card.gfx}' for card in cards)}"
    return Reading((*reading.observations, available), reading.values) if reading else None


def _gfx_from_version(version: str) -> str:
    """11.0.0 is gfx1100, 9.0.10 is gfx90a; empty for an invalid version."""
    match = re.fullmatch(r"(\d{1,2})\.(\d)\.(\d{1,2})", version)
    return f"gfx{match.group(1)}{match.group(2)}{int(match.group(3)):x}" if match else ""


def _is_supported(facts: MachineFacts, card: GraphicsCard) -> bool:
    """Whether the installed ROCm supports the card's target without an override, by the record of the target."""
    target = facts.knowledge.targets.get(card.gfx)
    if target is None or target.override or facts.rocm is None:
        return False
    return bool(target.rocm) and facts.rocm in SpecifierSet(target.rocm, prereleases=True)
