"""The environment variables that the GPU and the plan's routes require, and where routes disagree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.plan import DependencyDecision, Plan

ARCH = "PYTORCH_ROCM_ARCH"


@dataclass(frozen=True)
class Variable:
    """`value` is None if routes require different values: then each build sets its own."""

    name: str
    value: str | None
    why: str


def variables(plan: Plan) -> tuple[Variable, ...]:
    """Sorted by name. Always includes the target: where no GPU is visible (image build), torch compiles for none."""
    asked: dict[str, dict[str, list[str]]] = {}
    for item in settled(plan):
        for name, value in item.env.items():
            asked.setdefault(name, {}).setdefault(value, []).append(f"{item.name} ({item.route})")
    asked.pop(ARCH, None)
    found = [Variable(ARCH, plan.gpu.gfx, f"extensions are built for {plan.gpu.title}")]
    for name, values in asked.items():
        if len(values) == 1:
            ((value, who),) = values.items()
            found.append(Variable(name, value, f"required by {', '.join(sorted(who))}"))
        else:
            told = "; ".join(f"{', '.join(sorted(who))} {value}" for value, who in sorted(values.items()))
            found.append(Variable(name, None, f"routes need different values; install.sh sets it per build: {told}"))
    return tuple(sorted(found, key=lambda item: item.name))


def settled(plan: Plan) -> tuple[DependencyDecision, ...]:
    """The plan's decisions with the placeholder {gfx} replaced by its target."""

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
