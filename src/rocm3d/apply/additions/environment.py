"""environment.sh: the variables that this GPU and these routes need, for building and for running."""

from __future__ import annotations

import shlex

from rocm3d.apply.template import one_line
from rocm3d.apply.variables import environment_variables
from rocm3d.model.plan import Plan
from rocm3d.workspace.tree import Tree


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """POSIX sh, one comment and one export for each variable."""
    lines = [f"# shellcheck shell=sh\n# Source this before installing or running on {plan.gpu.title} ({plan.gpu.gfx})."]
    for variable in environment_variables(plan):
        lines.append(
            f"# {one_line(variable.reason)}"
            if variable.value is not None
            else f"# {variable.name}: {one_line(variable.reason)}"
        )
        if variable.value is not None:
            lines.append(f"export {variable.name}={shlex.quote(variable.value)}")
    return {"environment.sh": ("\n".join(lines) + "\n").encode()}
