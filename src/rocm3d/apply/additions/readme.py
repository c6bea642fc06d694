"""README.md of the port folder: losses, install commands, manual steps, and how to undo the port."""

from __future__ import annotations

from rocm3d.apply.additions.container import render as container
from rocm3d.apply.install_steps import install_steps
from rocm3d.apply.template import render as rendered
from rocm3d.model.plan import Plan
from rocm3d.workspace.tree import Tree


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """Losses and stubs come first. Details are in the plan and the report."""
    install = install_steps(plan, tree)
    losses = {decision.name: decision for decision in (*plan.losses, *plan.stubs)}
    text = rendered(
        "README.md",
        name=tree.name,
        gpu=plan.gpu,
        folder=folder,
        base=plan.base,
        docker=bool(container(plan, tree, folder)),
        losses=list(losses.values()),
        steps=install.steps,
        left=install.manual,
    )
    return {"README.md": text}
