"""The environment variables of a port: what the GPU and the plan's routes ask for, and where routes disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.plan import DependencyDecision, Plan

ARCH = "PYTORCH_ROCM_ARCH"


@dataclass(frozen=True)
class Variable:
    """One variable. `value` is None where routes ask for different ones: then each build gets its own."""

    name: str
    value: str | None
    why: str


def variables(plan: Plan) -> tuple[Variable, ...]:
    """By name. The target always: where no GPU is visible, as in an image build, torch would compile for none."""
    asked: dict[str, dict[str, list[str]]] = {}
    for item in settled(plan):
        for name, value in item.env.items():
            asked.setdefault(name, {}).setdefault(value, []).append(f"{item.name} ({item.route})")
    asked.pop(ARCH, None)
    found = [Variable(ARCH, plan.gpu.gfx, f"extensions are built for {plan.gpu.title}")]
    for name, values in asked.items():
        if len(values) == 1:
            ((value, who),) = values.items()
            found.append(Variable(name, value, f"asked for by {', '.join(sorted(who))}"))
        else:
            told = "; ".join(f"{', '.join(sorted(who))} {value}" for value, who in sorted(values.items()))
            found.append(Variable(name, None, f"asked for differently, so install.sh sets it for each build: {told}"))
    return tuple(sorted(found, key=lambda item: item.name))


def settled(plan: Plan) -> tuple[DependencyDecision, ...]:
    """The decisions with the plan's target in place of its placeholder."""

    def here(text: str) -> str:
        return text.replace("{gfx}", plan.gpu.gfx)

    return tuple(
        item.model_copy(
            update={
                "env": {name: here(value) for name, value in item.env.items() if name != ARCH},
                "commands": tuple(tuple(map(here, command)) for command in item.commands),
                "requirement": here(item.requirement),
            }
        )
        for item in plan.decisions
    )
