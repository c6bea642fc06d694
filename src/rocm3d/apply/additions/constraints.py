"""constraints.txt for pip and overrides.txt for uv: versions that must not change, packages that must not come in."""

from __future__ import annotations

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rocm3d.apply.requirement_source import PROTECTED_PACKAGES, RequirementsCopier
from rocm3d.apply.target_needs import base_pins, decisions_for_target
from rocm3d.apply.template import one_line
from rocm3d.manifest.requirements import read
from rocm3d.model.plan import DependencyDecision, Plan
from rocm3d.model.text import Text
from rocm3d.workspace.tree import Tree

NAME = "constraints.txt"
# An override whose marker is never true removes the requirement.
_NEVER = " ; sys_platform == 'never'"


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    return {NAME: _constraints(plan, tree), "overrides.txt": _overrides(plan)}


def _constraints(plan: Plan, tree: Tree) -> bytes:
    """The repository's constraints.txt comes first, without the packages that the plan decides about."""
    data = tree.read(NAME) if NAME in tree else None
    repository_lines = (
        b"" if data is None or b"\0" in data else RequirementsCopier.from_plan(plan, ()).copy(read(NAME, data))
    )
    newline = Text(repository_lines).newline
    joint = newline if repository_lines and not repository_lines.endswith((b"\n", b"\r")) else b""
    return repository_lines + joint + b"".join(line.encode() + newline for line in _port_lines(plan))


def _port_lines(plan: Plan) -> list[str]:
    """The base's pins, and versions that routes need."""
    lines = ["# rocm3d: packages that must not change. install.sh replaces these by the versions that are installed."]
    lines += [f"{name}{pin}" for name, pin in base_pins(plan).items()]
    needs = sorted(
        (name, specifier, one_line(f"{decision.name} ({decision.route})"))
        for decision in plan.decisions
        for name, specifier in decision.needs.items()
        if specifier
    )
    if needs:
        lines.append("# rocm3d: versions that routes need.")
    return [*lines, *(f"{name}{specifier}  # {who}" for name, specifier, who in needs)]


def _overrides(plan: Plan) -> bytes:
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
    return ("\n".join(lines) + "\n").encode()


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
