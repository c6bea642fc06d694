"""install.sh and the files that it uses: an install that stops when a step changes torch.

base_state.py compares torch before and after a step; environment.sh has the variables for building and for running.
"""

from __future__ import annotations

import shlex
from pathlib import Path, PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

import rocm3d
from rocm3d.apply.install_steps import install_steps
from rocm3d.apply.requirement_source import PROTECTED_PACKAGES
from rocm3d.apply.target_needs import base_requirements, environment_variables
from rocm3d.apply.template import one_line
from rocm3d.apply.template import render as rendered
from rocm3d.model.plan import DependencyDecision, Plan
from rocm3d.model.stack import Stack
from rocm3d.workspace.tree import Tree

_SCRIPT = "base_state.py"
_MAX_SHOWN = 8
# The dot hides the folder from searches for namespace packages, which would take a folder of modules for one.
_SCRIPTS = "scripts.d"


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """One script for every form of base; only its hints differ."""
    install = install_steps(plan, tree)
    missing_torch, recovery = _hints(plan.base)
    script = rendered(
        "install.sh",
        name=tree.name,
        gpu=plan.gpu,
        up="/".join([".."] * len(PurePosixPath(folder).parts)),
        steps=install.steps,
        left=install.manual,
        private=sorted(item.name for item in plan.decisions if item.is_of_other_index),
        unlocked=(unlocked := list(dict.fromkeys(item.name for step in install.steps for item in step.unlocked))),
        unlocked_names=", ".join(unlocked[:_MAX_SHOWN]) + (" and more" if len(unlocked) > _MAX_SHOWN else ""),
        base=base_requirements(plan),
        index=plan.base.index if plan.base else "",
        torch=".".join(plan.base.torch.split(".")[:2]) if plan.base else "",
        python=plan.base.python if plan.base else "",
        missing=missing_torch,
        back=recovery,
        unwanted=sorted(item.name for item in plan.decisions if _is_replaced_or_dropped(item)),
        expected=sorted(item.name for item in plan.decisions if item.name in PROTECTED_PACKAGES),
    )
    payload = Path(rocm3d.__file__).parent / "payload" / _SCRIPT
    return {
        "environment.sh": _environment(plan),
        "install.sh": script,
        f"{_SCRIPTS}/{_SCRIPT}": payload.read_bytes(),
    }


def _hints(base: Stack | None) -> tuple[str, str]:
    """What to do if torch is missing, and after a step that changed torch."""
    if base is not None and base.form == "container":
        image = f"the image {base.image}"
        return f"run this inside {image}", f"start again from {image} and leave out this step"
    if base is not None and base.form == "pip":
        return (
            "run this in a new virtual environment: it installs the packages of the plan",
            "make a new virtual environment and leave out this step",
        )
    return (
        "set PYTHON=... to an interpreter with PyTorch for ROCm",
        "reinstall the earlier versions from their original index",
    )


def _is_replaced_or_dropped(decision: DependencyDecision) -> bool:
    """Whether the plan replaces or drops the distribution of this name, so that it must not be installed."""
    if decision.package is None or decision.decision == "keep" or decision.name in PROTECTED_PACKAGES:
        return False
    try:
        stays = canonicalize_name(Requirement(decision.requirement).name) == decision.name
    except InvalidRequirement:
        stays = decision.decision == "build"
    return not stays


def _environment(plan: Plan) -> bytes:
    """POSIX sh, one comment and one export for each variable."""
    lines = [f"# shellcheck shell=sh\n# Source this before installing or running on {plan.gpu.title} ({plan.gpu.gfx})."]
    for variable in environment_variables(plan):
        if variable.value is None:
            lines.append(f"# {variable.name}: {one_line(variable.reason)}")
        else:
            lines.append(f"# {one_line(variable.reason)}\nexport {variable.name}={shlex.quote(variable.value)}")
    return ("\n".join(lines) + "\n").encode()
