"""Conditions on device files: missing, or not accessible for the user."""

from __future__ import annotations

from rocm3d.host.facts import Facts, Reading, words
from rocm3d.model.condition import Condition


def device_absent(facts: Facts, condition: Condition) -> Reading | None:
    """A device file is missing although the kernel has a GPU."""
    lacking = [path for path in words(condition, "paths") if facts.snapshot.device(path) is None]
    has_node = any(card.kfd for card in facts.snapshot.gpus) or bool(facts.snapshot.wsl)
    return Reading(tuple(f"{path} is missing" for path in lacking)) if lacking and has_node else None


def render_node_absent(facts: Facts, _: Condition) -> Reading | None:
    """A GPU of the KFD topology has no render node in /dev/dri."""
    lacking = [
        (card, path)
        for card in facts.cards
        if card.render_minor and facts.snapshot.device(path := f"/dev/dri/renderD{card.render_minor}") is None
    ]
    seen = tuple(f"node {card.node} at {card.pci}: {path} is missing" for card, path in lacking)
    return Reading(seen, {"devices": " ".join(f"--device={path}" for _, path in lacking)}) if lacking else None


def device_denied(facts: Facts, _: Condition) -> Reading | None:
    """A device file exists, but the user may not open it."""
    denied = [item for item in facts.snapshot.devices if not item.usable]
    seen = tuple(f"{item.path}: {item.mode}, group {item.group}, no access" for item in denied)
    groups = dict.fromkeys(item.group for item in denied)
    values = {"groups": ",".join(groups), "adds": " ".join(f"--group-add {name}" for name in groups)}
    return Reading(seen, values) if denied else None


def access_by_seat(facts: Facts, _: Condition) -> Reading | None:
    """Access only through the login session, not through a group: jobs started over SSH have no access."""
    if facts.snapshot.root:
        return None
    lent = [
        item for item in facts.snapshot.devices if item.usable and not item.member and not item.mode.endswith("rw-")
    ]
    seen = tuple(f"{item.path}: accessible, but the user is not in the group {item.group}" for item in lent)
    return Reading(seen, {"groups": ",".join(dict.fromkeys(item.group for item in lent))}) if lent else None
