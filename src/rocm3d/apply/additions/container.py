"""Dockerfile, Dockerfile.dockerignore and compose.yaml: the base image, the install, and the GPU's device files."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.apply.addition import Addition
from rocm3d.apply.template import render as rendered
from rocm3d.apply.variables import variables

if TYPE_CHECKING:
    from rocm3d.model.plan import Plan
    from rocm3d.workspace.tree import Tree

_IMAGE = re.compile(r"[\w.:/@-]+")


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """Nothing if the base has no image or the plan is not for Linux."""
    base = plan.base
    if base is None or plan.platform != "linux" or not _IMAGE.fullmatch(base.image):
        return {}
    given = {
        "name": tree.name,
        "gpu": plan.gpu,
        "folder": folder,
        "image": base.image,
        "bare": base.form == "pip",
        "tag": f"{re.sub(r'[^a-z0-9]+', '-', tree.name.lower()).strip('-') or 'port'}:{plan.gpu.gfx}",
        "up": "/".join([".."] * len(PurePosixPath(folder).parts)),
        "variables": [item for item in variables(plan) if item.value is not None],
    }
    return {
        "Dockerfile": rendered("Dockerfile", **given),
        "Dockerfile.dockerignore": _left_out(tree, folder),
        "compose.yaml": rendered("compose.yaml", **given),
    }


def _left_out(tree: Tree, folder: str) -> bytes:
    """Docker reads this file instead of the repository's .dockerignore, so it starts with the lines of that one."""
    theirs = tree.read(".dockerignore") or b"" if ".dockerignore" in tree else b""
    joint = b"\n" if theirs and not theirs.endswith(b"\n") else b""
    ours = ["# rocm3d", ".rocm3d", "**/.venv", "**/__pycache__", f"!{folder}"]
    return theirs + joint + ("\n".join(ours) + "\n").encode()


addition = Addition(__name__, render)
