"""Copies of the requirements files without CUDA builds, and requirements that other manifests name."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rocm3d.apply.addition import Addition
from rocm3d.apply.additions.constraints import NAME as CONSTRAINTS
from rocm3d.apply.needs import Needs, closure, needs
from rocm3d.apply.requirement_copy import Copier
from rocm3d.apply.steps import ELSEWHERE, entry_files
from rocm3d.apply.template import one_line
from rocm3d.manifest.requirements import is_requirements

if TYPE_CHECKING:
    from rocm3d.model.plan import Plan
    from rocm3d.workspace.tree import Tree


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """The copies keep the relative paths of the originals, so that `-r` and `-c` lines stay valid."""
    wanted = needs(plan, tree)
    copier = Copier.of(plan, wanted.taken)
    theirs = tuple(path for path in tree.paths() if is_requirements(path) and not path.startswith(f"{folder}/"))
    found = closure(tree, theirs)
    copies = {path: copier.copy(unit) for path, unit in found.items() if unit is not None and path != CONSTRAINTS}
    entries = entry_files(wanted, tree)
    if wanted.names and ELSEWHERE in entries:
        copies[ELSEWHERE] = _elsewhere(wanted, ())
    elif "requirements.txt" in entries and "requirements.txt" not in tree:
        copies["requirements.txt"] = _elsewhere(wanted, wanted.files)
    return copies


def _elsewhere(wanted: Needs, files: tuple[str, ...]) -> bytes:
    """An additional requirements file; each line has its origin as a comment."""
    lines = ["# Made by rocm3d: requirements that the repository names outside its top-level requirements files."]
    lines += [f"-r {shlex.quote(path)}" for path in files]
    lines += [f"{text}  # {one_line(where)}" for _, (text, where) in sorted(wanted.names.items())]
    return ("\n".join(lines) + "\n").encode()


addition = Addition(__name__, render)
