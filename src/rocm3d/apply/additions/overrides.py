"""overrides.txt, for uv: versions that no dependency may change, and packages that no dependency may bring in."""

from __future__ import annotations

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rocm3d.apply.base_pins import base_pins
from rocm3d.apply.requirement_source import PROTECTED_PACKAGES
from rocm3d.apply.template import one_line
from rocm3d.apply.variables import decisions_for_target
from rocm3d.model.plan import DependencyDecision, Plan
from rocm3d.workspace.tree import Tree

# An override whose marker is never true removes the requirement.
_NEVER = " ; sys_platform == 'never'"


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """Used as `uv pip install --overrides overrides.txt`; pip has no equivalent."""
    lines = ["# rocm3d: versions that must not change. For `uv pip install --overrides`; pip uses constraints.txt."]
    pins = base_pins(plan)
    lines += [f"{name}{pin}" for name, pin in pins.items()]
    lines += [
        f"{name}{_NEVER}  # the base has no package of this name" for name in PROTECTED_PACKAGES if name not in pins
    ]
    lines.append("# rocm3d: packages that the plan drops or replaces, in case a dependency requires them.")
    for decision in decisions_for_target(plan):
        if (
            decision.package is not None
            and decision.decision != "keep"
            and decision.name not in (*pins, *PROTECTED_PACKAGES)
        ):
            lines.append(f"{_override(decision)}  # {decision.decision}: {one_line(decision.reason)}")
    return {"overrides.txt": ("\n".join(lines) + "\n").encode()}


def _override(decision: DependencyDecision) -> str:
    """The plan's version of the same distribution, or an override that removes it."""
    try:
        requirement = Requirement(decision.requirement)
    except InvalidRequirement:
        return decision.name if _is_built(decision) else f"{decision.name}{_NEVER}"
    same = canonicalize_name(requirement.name) == decision.name
    return str(requirement) if same else f"{decision.name}{_NEVER}"


def _is_built(decision: DependencyDecision) -> bool:
    """Whether the route builds a package under this name, so that any version is accepted."""
    return decision.decision == "build" and any(decision.name in command for command in decision.commands)
