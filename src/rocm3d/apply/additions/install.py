"""install.sh and base_state.py, which it runs: an install that stops when a step changes torch."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

import rocm3d
from rocm3d.apply.addition import Addition
from rocm3d.apply.base_pins import base_requirements
from rocm3d.apply.origin import PROTECTED
from rocm3d.apply.steps import installation
from rocm3d.apply.template import render as rendered

if TYPE_CHECKING:
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.model.stack import Stack
    from rocm3d.workspace.tree import Tree

_SCRIPT = "base_state.py"
# The dot hides the folder from searches for namespace packages, which would take a folder of modules for one.
_SCRIPTS = "scripts.d"


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """One script for every form of base; only its hints differ."""
    install = installation(plan, tree)
    script = rendered(
        "install.sh",
        name=tree.name,
        gpu=plan.gpu,
        up="/".join([".."] * len(PurePosixPath(folder).parts)),
        steps=install.steps,
        left=install.left,
        base=base_requirements(plan),
        index=plan.base.index if plan.base else "",
        torch=".".join(plan.base.torch.split(".")[:2]) if plan.base else "",
        python=plan.base.python if plan.base else "",
        missing=_missing(plan.base),
        back=_back(plan.base),
        unwanted=sorted(item.name for item in plan.decisions if _is_unwanted(item)),
        expected=sorted(item.name for item in plan.decisions if item.name in PROTECTED),
    )
    payload = Path(rocm3d.__file__).parent / "payload" / _SCRIPT
    return {"install.sh": script, f"{_SCRIPTS}/{_SCRIPT}": payload.read_bytes()}


def _missing(base: Stack | None) -> str:
    if base is not None and base.form == "container":
        return f"run this inside the image {base.image}"
    if base is not None and base.form == "pip":
        return "run this in a new virtual environment: it installs the torch of the plan"
    return "set PYTHON=... to an interpreter with a ROCm build of torch"


def _back(base: Stack | None) -> str:
    if base is not None and base.form == "container":
        return f"start again from the image {base.image} and leave out this step"
    if base is not None and base.form == "pip":
        return "make a new virtual environment and leave out this step"
    return "reinstall the earlier versions from their original index"


def _is_unwanted(item: DependencyDecision) -> bool:
    """Whether the plan replaces or drops the distribution of this name, so that it must not be installed."""
    if item.package is None or item.decision == "keep" or item.name in PROTECTED:
        return False
    try:
        stays = canonicalize_name(Requirement(item.requirement).name) == item.name
    except InvalidRequirement:
        stays = item.decision == "build"
    return not stays


addition = Addition(__name__, render)
