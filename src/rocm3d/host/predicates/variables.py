"""Conditions on environment variables: set, set together, or with harmful values."""

from __future__ import annotations

import fnmatch
import re

from packaging.specifiers import SpecifierSet

from rocm3d.host.facts import Facts, NotKnownError, Reading, words
from rocm3d.model.condition import Condition
from rocm3d.model.snapshot import GraphicsCard

_OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"
_ROCR = "ROCR_VISIBLE_DEVICES"


def _set(facts: Facts, condition: Condition) -> dict[str, str]:
    """Variables of the condition that are set and not empty."""
    return {name: value for name in words(condition, "names") if (value := facts.variable(name) or "").strip()}


def _reading(found: dict[str, str]) -> Reading | None:
    seen = tuple(f"{name}={value}" for name, value in found.items())
    return Reading(seen, {"names": " ".join(found)}) if found else None


def set_and_on(facts: Facts, condition: Condition) -> Reading | None:
    """A variable is set and not 0 or False."""
    return _reading({name: value for name, value in _set(facts, condition).items() if value not in ("0", "False")})


def set_to(facts: Facts, condition: Condition) -> Reading | None:
    """A variable matches one of the values, which may be glob patterns."""
    wanted = words(condition, "values")
    found = _set(facts, condition)
    return _reading({n: v for n, v in found.items() if any(fnmatch.fnmatchcase(v, pattern) for pattern in wanted)})


def set_together(facts: Facts, condition: Condition) -> Reading | None:
    """More than one of the variables is set."""
    found = _set(facts, condition)
    return _reading(found) if len(found) > 1 else None


def holds_all(facts: Facts, condition: Condition) -> Reading | None:
    """The value of a variable contains all of the words."""
    wanted = [word.lower() for word in words(condition, "words")]
    found = _set(facts, condition)
    return _reading({n: v for n, v in found.items() if all(word in v.replace(" ", "").lower() for word in wanted)})


def lacks_targets(facts: Facts, condition: Condition) -> Reading | None:
    """A list of targets lacks one of this machine."""
    found = _set(facts, condition)
    lists = {name: {part.partition(":")[0] for part in re.split(r"[;, ]+", value)} for name, value in found.items()}
    if found and not facts.targets:
        raise NotKnownError("the kernel does not report the GPU's target")
    short = {name: found[name] for name, parts in lists.items() if set(facts.targets) - parts}
    reading = _reading(short)
    return Reading(reading.seen, {**reading.values, "targets": ";".join(facts.targets)}) if reading else None


def override_needless(facts: Facts, _: Condition) -> Reading | None:
    """The override equals the card's target, or the installed ROCm supports that target without it."""
    given = _override(facts)
    if given is None:
        return None
    served = [card for card in facts.known_cards if card.gfx in facts.targets and _served(facts, card)]
    same = [card for card in facts.cards if card.gfx == _gfx(given)]
    needless = list(dict.fromkeys(card.gfx for card in (*same, *served)))
    return Reading((f"{_OVERRIDE}={given}", f"{', '.join(needless)} needs no override")) if needless else None


def override_of_other_family(facts: Facts, _: Condition) -> Reading | None:
    """The override makes a card report a target of another generation."""
    given = _override(facts)
    named = _gfx(given) if given is not None else ""
    if given is None or (given and not named):
        return Reading((f"{_OVERRIDE}={given}: not a version",)) if given else None
    other = [card for card in facts.known_cards if card.gfx and named and card.gfx[:-2] != named[:-2]]
    seen = tuple(f"{card.gfx} at {card.pci} would report {named}" for card in other)
    return Reading((f"{_OVERRIDE}={given}", *seen)) if other else None


def override_for_unlike(facts: Facts, _: Condition) -> Reading | None:
    """One override for GPUs with different targets."""
    given = _override(facts)
    if given is None or not facts.known_cards:
        return None
    kinds = dict.fromkeys(card.gfx for card in facts.snapshot.gpus if card.gfx)
    if len(kinds) < 2:
        return None
    return Reading((f"{_OVERRIDE}={given}", f"GPUs of this machine: {', '.join(kinds)}"))


def mask_hides_all(facts: Facts, condition: Condition) -> Reading | None:
    """A mask hides every GPU: it is empty, negative, or its first index does not exist."""
    cards = [card for card in facts.snapshot.gpus if card.kfd]
    if not cards:
        raise NotKnownError("the kernel lists no GPU")
    names = {str(card.rocr_index) for card in cards} | {card.uuid.lower() for card in cards if card.uuid}
    masks = {name: facts.variable(name) for name in words(condition, "names")}
    if masks.get(_ROCR) is not None:
        masks = {_ROCR: masks[_ROCR]}  # it changes the indices of the other masks
    blind = {
        name: mask
        for name, mask in masks.items()
        if mask is not None and (mask or name == _ROCR) and mask.partition(",")[0].strip().lower() not in names
    }
    reading = _reading(blind)
    here = f"GPUs of this machine: {', '.join(f'{card.rocr_index} {card.gfx}' for card in cards)}"
    return Reading((*reading.seen, here), reading.values) if reading else None


def _override(facts: Facts) -> str | None:
    return facts.variable(_OVERRIDE)


def _gfx(given: str) -> str:
    """11.0.0 is gfx1100, 9.0.10 is gfx90a; empty for an invalid version."""
    found = re.fullmatch(r"(\d{1,2})\.(\d)\.(\d{1,2})", given)
    return f"gfx{found.group(1)}{found.group(2)}{int(found.group(3)):x}" if found else ""


def _served(facts: Facts, card: GraphicsCard) -> bool:
    """Whether the installed ROCm supports the card's target without an override, by the record of the target."""
    target = facts.knowledge.targets.get(card.gfx)
    if target is None or target.override or facts.rocm is None:
        return False
    return bool(target.rocm) and facts.rocm in SpecifierSet(target.rocm, prereleases=True)
