"""Conditions on the machine that follow from a plan."""

from __future__ import annotations

from rocm3d.host.facts import MachineFacts, Reading, format_bytes, parse_version
from rocm3d.model.condition import Condition


def target_absent(facts: MachineFacts, _: Condition) -> Reading | None:
    """The plan is for a GPU that is not in this machine."""
    machine_targets = sorted({card.gfx for card in facts.snapshot.gpus if card.gfx})
    if facts.plan is None or not machine_targets or facts.plan.gpu.gfx in machine_targets:
        return None
    return Reading(
        (f"the plan is for {facts.plan.gpu.gfx}", f"machine: {', '.join(machine_targets)}"),
        {"gfx": machine_targets[-1]},
    )


def torch_differs(facts: MachineFacts, _: Condition) -> Reading | None:
    """The installed torch has another release, or another ROCm, than the stack of the plan."""
    python, base = facts.python, facts.plan.base if facts.plan else None
    if base is None or not python.hip:
        return None
    torch_rocm, torch = facts.torch_rocm, facts.torch
    planned_torch, planned_rocm = parse_version(base.torch), parse_version(base.rocm)
    same_torch = torch is not None and planned_torch is not None and torch.release[:2] == planned_torch.release[:2]
    same_rocm = (
        torch_rocm is not None and planned_rocm is not None and torch_rocm.release[:2] == planned_rocm.release[:2]
    )
    if same_torch and same_rocm:
        return None
    observations = (
        f"installed: torch {python.torch}, HIP {python.hip}",
        f"planned: torch {base.torch}, ROCm {base.rocm}",
    )
    return Reading(observations, {"stack": base.id})


def python_differs(facts: MachineFacts, _: Condition) -> Reading | None:
    """The interpreter has another version than the stack of the plan, so its wheels cannot be installed."""
    base = facts.plan.base if facts.plan else None
    if base is None or facts.python.version == base.python:
        return None
    observation = f"{facts.python.path} is Python {facts.python.version}; {base.id} is for {base.python}"
    return Reading((observation,), {"python": base.python})


def no_compiler(facts: MachineFacts, _: Condition) -> Reading | None:
    """The plan compiles, and no installed ROCm has a compiler."""
    if not facts.builds or any(install.compiler for install in facts.snapshot.rocm):
        return None
    installs = [f"{install.form} {install.path}: no compiler" for install in facts.snapshot.rocm] or [
        "no ROCm is installed"
    ]
    return Reading((*installs, f"the plan compiles {', '.join(facts.builds[:6])}"))


def little_vram(facts: MachineFacts, _: Condition) -> Reading | None:
    """Even the smallest mode of a known repository needs more VRAM than any card of the plan's target has."""
    plan = facts.plan
    port = facts.knowledge.ports.get(plan.known_as) if plan and plan.known_as else None
    needs = [mode.gb for mode in port.memory] if port else []
    cards = [card.vram_bytes for card in facts.cards if card.gfx in facts.targets and card.vram_bytes]
    if not needs or not cards or max(cards) >= min(needs) * 1e9:
        return None
    known = port.id if port else ""
    return Reading((f"{known} needs at least {min(needs):g} GB", f"the largest card has {format_bytes(max(cards))}"))
