"""install.sh and what it asks the interpreter: the install that stops when something touches torch."""

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
# The dot keeps a search for namespace packages out, which would take a bare folder of modules for one.
_SCRIPTS = "scripts.d"


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """One script for every form of base; only what it says when torch is missing differs."""
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
        return "run this in a new virtual environment: it installs the one that the plan is for"
    return "name the interpreter that has a ROCm build with PYTHON=..."


def _back(base: Stack | None) -> str:
    if base is not None and base.form == "container":
        return f"start again from the image {base.image}, without what this step installs"
    if base is not None and base.form == "pip":
        return "make a new virtual environment and leave out what this step installs"
    return "install the versions that were there again, from where they came"


def _is_unwanted(item: DependencyDecision) -> bool:
    """Whether the distribution of this very name has no place beside what the plan puts there."""
    if item.package is None or item.decision == "keep" or item.name in PROTECTED:
        return False
    try:
        stays = canonicalize_name(Requirement(item.requirement).name) == item.name
    except InvalidRequirement:
        stays = item.decision == "build"
    return not stays


addition = Addition(__name__, render)
