"""What the plan's base and routes need on its target: environment variables, commands and version pins."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rocm3d.apply.requirement_source import PROTECTED_PACKAGES
from rocm3d.model.plan import DependencyDecision, Plan

ARCH = "PYTORCH_ROCM_ARCH"


@dataclass(frozen=True)
class EnvironmentVariable:
    """`value` is None if routes require different values: then each build sets its own."""

    name: str
    value: str | None
    reason: str


def environment_variables(plan: Plan) -> tuple[EnvironmentVariable, ...]:
    """Sorted by name. Always includes the target: where no GPU is visible (image build), torch compiles for none."""
    requested: dict[str, dict[str, list[str]]] = {}
    for item in decisions_for_target(plan):
        for name, value in item.env.items():
            requested.setdefault(name, {}).setdefault(value, []).append(f"{item.name} ({item.route})")
    requested.pop(ARCH, None)
    merged = [EnvironmentVariable(ARCH, plan.gpu.gfx, f"extensions are built for {plan.gpu.title}")]
    for name, values in requested.items():
        if len(values) == 1:
            ((value, who),) = values.items()
            merged.append(EnvironmentVariable(name, value, f"required by {', '.join(sorted(who))}"))
        else:
            listing = "; ".join(f"{', '.join(sorted(who))} {value}" for value, who in sorted(values.items()))
            reason = f"routes need different values; install.sh sets it per build: {listing}"
            merged.append(EnvironmentVariable(name, None, reason))
    return tuple(sorted(merged, key=lambda item: item.name))


def decisions_for_target(plan: Plan) -> tuple[DependencyDecision, ...]:
    """The plan's decisions with the placeholder {gfx} replaced by its target."""

    def with_target(text: str) -> str:
        return text.replace("{gfx}", plan.gpu.gfx)

    return tuple(
        decision.model_copy(
            update={
                "env": {name: with_target(value) for name, value in decision.env.items() if name != ARCH},
                "commands": tuple(tuple(map(with_target, command)) for command in decision.commands),
                "requirement": with_target(decision.requirement),
            }
        )
        for decision in plan.decisions
    )


def base_requirements(plan: Plan) -> tuple[str, ...]:
    """Requirements that install the base on the plan's target. Empty unless the base consists of wheels."""
    if plan.base is None or plan.base.form != "pip":
        return ()
    return tuple(requirement.replace("{gfx}", plan.gpu.gfx) for requirement in plan.base.requirements)


def base_pins(plan: Plan) -> dict[str, str]:
    """Distribution to pin, from the stack's record and not from the machine.

    A local version, where the record has one, excludes every other build.
    """
    if plan.base is None:
        return {}
    pins = {PROTECTED_PACKAGES[0]: f"=={plan.base.torch}"}
    pins |= {str(canonicalize_name(name)): f"=={version}" for name, version in plan.base.provides.items()}
    for text in base_requirements(plan):
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        name = str(canonicalize_name(requirement.name))
        if requirement.specifier and (name in pins or name in PROTECTED_PACKAGES):
            pins[name] = str(requirement.specifier)
    return dict(sorted(pins.items()))
