"""install.sh and base_state.py, which it runs: an install that stops when a step changes torch."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

import rocm3d
from rocm3d.apply.base_pins import base_requirements
from rocm3d.apply.install_steps import install_steps
from rocm3d.apply.requirement_source import PROTECTED_PACKAGES
from rocm3d.apply.template import render as rendered
from rocm3d.model.plan import DependencyDecision, Plan
from rocm3d.model.stack import Stack
from rocm3d.workspace.tree import Tree

_SCRIPT = "base_state.py"
# The dot hides the folder from searches for namespace packages, which would take a folder of modules for one.
_SCRIPTS = "scripts.d"


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """One script for every form of base; only its hints differ."""
    install = install_steps(plan, tree)
    script = rendered(
        "install.sh",
        name=tree.name,
        gpu=plan.gpu,
        up="/".join([".."] * len(PurePosixPath(folder).parts)),
        steps=install.steps,
        left=install.manual,
        base=base_requirements(plan),
        index=plan.base.index if plan.base else "",
        torch=".".join(plan.base.torch.split(".")[:2]) if plan.base else "",
        python=plan.base.python if plan.base else "",
        missing=_missing_torch_hint(plan.base),
        back=_recovery_hint(plan.base),
        unwanted=sorted(item.name for item in plan.decisions if _is_replaced_or_dropped(item)),
        expected=sorted(item.name for item in plan.decisions if item.name in PROTECTED_PACKAGES),
    )
    payload = Path(rocm3d.__file__).parent / "payload" / _SCRIPT
    return {"install.sh": script, f"{_SCRIPTS}/{_SCRIPT}": payload.read_bytes()}


def _missing_torch_hint(base: Stack | None) -> str:
    if base is not None and base.form == "container":
        return f"run this inside the image {base.image}"
    if base is not None and base.form == "pip":
        return "run this in a new virtual environment: it installs the packages of the plan"
    return "set PYTHON=... to an interpreter with PyTorch for ROCm"


def _recovery_hint(base: Stack | None) -> str:
    if base is not None and base.form == "container":
        return f"start again from the image {base.image} and leave out this step"
    if base is not None and base.form == "pip":
        return "make a new virtual environment and leave out this step"
    return "reinstall the earlier versions from their original index"


def _is_replaced_or_dropped(decision: DependencyDecision) -> bool:
    """Whether the plan replaces or drops the distribution of this name, so that it must not be installed."""
    if decision.package is None or decision.decision == "keep" or decision.name in PROTECTED_PACKAGES:
        return False
    try:
        stays = canonicalize_name(Requirement(decision.requirement).name) == decision.name
    except InvalidRequirement:
        stays = decision.decision == "build"
    return not stays
