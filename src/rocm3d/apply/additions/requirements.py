"""A copy of every requirements file without what brings CUDA back; comments, markers and the rest stay."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.apply.addition import Addition
from rocm3d.manifest.manifest import Manifest
from rocm3d.manifest.requirements import copy_with, is_requirements, read

if TYPE_CHECKING:
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.workspace.tree import Tree


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """The copies lie as the originals do, so that `-r` and `-c` lines between them still hold."""
    decisions = {item.name: item for item in plan.decisions}
    touched = {(finding.path, finding.line) for finding in plan.answered} | {
        (item.finding.path, item.finding.line) for item in plan.left
    }
    copies = {}
    for path in tree.paths():
        data = tree.read(path) if is_requirements(path) else None
        if data is not None and b"\0" not in data:
            copies[path] = _copy(read(path, data), decisions, touched)
    return copies


def _copy(requirements: Manifest, decisions: dict[str, DependencyDecision], touched: set[tuple[str, int]]) -> bytes:
    named = {item.line: str(canonicalize_name(item.name)) for item in requirements.mentions}
    urls = {item.line: item.urls for item in requirements.options}

    def replace(line: int) -> str | None:
        if (requirements.path, line) not in touched:
            return None
        if line in urls:
            return f"# rocm3d: left out: {' '.join(urls[line])}"
        decision = decisions.get(named.get(line, ""))
        return None if decision is None or decision.package is None else _instead(decision)

    return copy_with(requirements, replace)


def _instead(item: DependencyDecision) -> str:
    if item.decision == "replace" and item.requirement and not item.index:
        return f"{item.requirement}  # rocm3d: instead of {item.name}"
    commands = "".join(f"\n#   {shlex.join(command)}" for command in item.commands)
    return f"# rocm3d: {item.name}: {item.decision}: {' '.join(item.reason.split())}{commands}"


addition = Addition(__name__, render)
