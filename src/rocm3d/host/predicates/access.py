"""Conditions on device files: missing, or not accessible for the user."""

from __future__ import annotations

from rocm3d.host.facts import MachineFacts, Reading, text_parameters
from rocm3d.model.condition import Condition


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
    return (
        Reading(observations, {"groups": ",".join(dict.fromkeys(device.group for device in session_only))})
        if session_only
        else None
    )
