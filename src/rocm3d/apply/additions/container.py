"""Dockerfile, Dockerfile.dockerignore and compose.yaml: the base image, the install, and the GPU's device files."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from rocm3d.apply.target_needs import environment_variables
from rocm3d.apply.template import render as rendered
from rocm3d.model.plan import Plan
from rocm3d.workspace.tree import Tree

_IMAGE = re.compile(r"[\w.:/@-]+")


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """Nothing if the base has no image or the plan is not for Linux."""
    base = plan.base
    if base is None or plan.platform != "linux" or not _IMAGE.fullmatch(base.image):
        return {}
    values = {
        "name": tree.name,
        "gpu": plan.gpu,
        "folder": folder,
        "image": f"{base.image}@{base.digest}" if base.digest else base.image,
        "unpinned": "" if base.digest else base.unpinned or "no digest is recorded",
        "bare": base.form == "pip",
        "tag": f"{re.sub(r'[^a-z0-9]+', '-', tree.name.lower()).strip('-') or 'port'}:{plan.gpu.gfx}",
        "up": "/".join([".."] * len(PurePosixPath(folder).parts)),
        "variables": [variable for variable in environment_variables(plan) if variable.value is not None],
    }
    return {
        "Dockerfile": rendered("Dockerfile", **values),
        "Dockerfile.dockerignore": _dockerignore(tree, folder),
        "compose.yaml": rendered("compose.yaml", **values),
    }


def _dockerignore(tree: Tree, folder: str) -> bytes:
    """Docker reads this file instead of the repository's .dockerignore, so it starts with the lines of that one."""
    repository_lines = tree.read(".dockerignore") or b"" if ".dockerignore" in tree else b""
    joint = b"\n" if repository_lines and not repository_lines.endswith(b"\n") else b""
    port_lines = ["# rocm3d", ".rocm3d", "**/.venv", "**/__pycache__", f"!{folder}"]
    return repository_lines + joint + ("\n".join(port_lines) + "\n").encode()
