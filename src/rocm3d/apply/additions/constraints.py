"""constraints.txt: the base's pins, versions that routes need, and the repository's own constraints."""

from __future__ import annotations

from rocm3d.apply.base_pins import base_pins
from rocm3d.apply.requirement_copy import RequirementsCopier
from rocm3d.apply.template import one_line
from rocm3d.manifest.requirements import read
from rocm3d.model.plan import Plan
from rocm3d.model.text import Text
from rocm3d.workspace.tree import Tree

NAME = "constraints.txt"


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """The repository's constraints.txt comes first, without the packages that the plan decides about."""
    data = tree.read(NAME) if NAME in tree else None
    repository_lines = (
        b"" if data is None or b"\0" in data else RequirementsCopier.from_plan(plan, ()).copy(read(NAME, data))
    )
    newline = Text(repository_lines).newline
    joint = newline if repository_lines and not repository_lines.endswith((b"\n", b"\r")) else b""
    return {NAME: repository_lines + joint + b"".join(line.encode() + newline for line in _port_lines(plan))}


def _port_lines(plan: Plan) -> list[str]:
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
