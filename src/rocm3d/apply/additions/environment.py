"""environment.sh: exactly the variables that this GPU and these routes need, to be sourced before building."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rocm3d.apply.addition import Addition

if TYPE_CHECKING:
    from rocm3d.model.plan import Plan
    from rocm3d.workspace.tree import Tree


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """PYTORCH_ROCM_ARCH always: where no GPU is visible, as in an image build, torch would compile for none."""
    variables = {"PYTORCH_ROCM_ARCH": plan.gpu.gfx}
    why = {"PYTORCH_ROCM_ARCH": f"extensions are built for {plan.gpu.title}"}
    for item in plan.decisions:
        for name, value in item.env.items():
            variables[name] = value
            why[name] = f"asked for by {item.name} ({item.route})"
    lines = [f"# Source this before installing or running on {plan.gpu.title} ({plan.gpu.gfx})."]
    for name in sorted(variables):
        lines += [f"# {why[name]}", f"export {name}={shlex.quote(variables[name])}"]
    return {"environment.sh": ("\n".join(lines) + "\n").encode()}


addition = Addition(__name__, render)
