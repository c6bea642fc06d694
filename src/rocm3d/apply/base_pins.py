"""Version pins of a plan's base packages, taken from the stack's record and not from the machine."""

from __future__ import annotations

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rocm3d.apply.requirement_source import PROTECTED_PACKAGES
from rocm3d.model.plan import Plan


def base_requirements(plan: Plan) -> tuple[str, ...]:
    """Requirements that install the base on the plan's target. Empty unless the base consists of wheels."""
    if plan.base is None or plan.base.form != "pip":
        return ()
    return tuple(requirement.replace("{gfx}", plan.gpu.gfx) for requirement in plan.base.requirements)


def base_pins(plan: Plan) -> dict[str, str]:
    """Distribution to pin. A local version, where the record has one, excludes every other build."""
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
