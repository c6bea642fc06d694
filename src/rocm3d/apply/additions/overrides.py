"""overrides.txt, for uv: versions that no dependency may change, and packages that no dependency may bring in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rocm3d.apply.addition import Addition
from rocm3d.apply.base_pins import base_pins
from rocm3d.apply.origin import PROTECTED
from rocm3d.apply.template import one_line
from rocm3d.apply.variables import settled

if TYPE_CHECKING:
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.workspace.tree import Tree

# An override whose marker is never true removes the requirement.
_NEVER = " ; sys_platform == 'never'"


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """Used as `uv pip install --overrides overrides.txt`; pip has no equivalent."""
    lines = ["# rocm3d: versions that must not change. For `uv pip install --overrides`; pip uses constraints.txt."]
    pins = base_pins(plan)
    lines += [f"{name}{pin}" for name, pin in pins.items()]
    lines += [f"{name}{_NEVER}  # the base has no package of this name" for name in PROTECTED if name not in pins]
    lines.append("# rocm3d: packages that the plan drops or replaces, in case a dependency requires them.")
    for item in settled(plan):
        if item.package is not None and item.decision != "keep" and item.name not in (*pins, *PROTECTED):
            lines.append(f"{_instead(item)}  # {item.decision}: {one_line(item.reason)}")
    return {"overrides.txt": ("\n".join(lines) + "\n").encode()}


def _instead(item: DependencyDecision) -> str:
    """The plan's version of the same distribution, or an override that removes it."""
    try:
        wanted = Requirement(item.requirement)
    except InvalidRequirement:
        return item.name if _is_built(item) else f"{item.name}{_NEVER}"
    same = canonicalize_name(wanted.name) == item.name
    return str(wanted) if same else f"{item.name}{_NEVER}"


def _is_built(item: DependencyDecision) -> bool:
    """Whether the route builds a package under this name, so that any version is accepted."""
    return item.decision == "build" and any(item.name in command for command in item.commands)


addition = Addition(__name__, render)
