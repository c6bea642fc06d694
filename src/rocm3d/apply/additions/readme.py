"""README.md of the port's folder: what it is, how to use it, how to be rid of it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rocm3d.apply.addition import Addition

if TYPE_CHECKING:
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.workspace.tree import Tree


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """Short: the plan and the report say the rest."""
    lines = [
        f"# {tree.name} on ROCm",
        "",
        f"Made by rocm3d for {plan.gpu.title} ({plan.gpu.gfx}). Nothing outside this folder imports from it,",
        "and nobody on an NVIDIA GPU runs any of it. `rocm3d undo` takes it away again, byte for byte.",
        "",
        *_base(plan),
        "## Install",
        "",
        "```sh",
        f". {folder}/environment.sh",
        *(f"pip install -r {folder}/{path}" for path in _roots(tree)),
        *(shlex.join(command) for item in plan.decisions for command in item.commands),
        "```",
        "",
        *_stand_ins(plan.stubs),
        "What was decided, changed, proven and not proven is in the report: `rocm3d report .`",
    ]
    return {"README.md": ("\n".join(lines) + "\n").encode()}


def _base(plan: Plan) -> list[str]:
    if plan.base is None:
        return []
    place = plan.base.image or plan.base.index
    about = f"ROCm {plan.base.rocm}, torch {plan.base.torch}, Python {plan.base.python}"
    return [f"Base: {about}" + (f" (`{place}`)." if place else "."), ""]


def _roots(tree: Tree) -> list[str]:
    return [path for path in tree.paths() if path == "requirements.txt"]


def _stand_ins(stubs: tuple[DependencyDecision, ...]) -> list[str]:
    if not stubs:
        return []
    return ["## Stand-ins", "", *(f"- {item.name}: {item.decision}, {item.reason}" for item in stubs), ""]


addition = Addition(__name__, render)
