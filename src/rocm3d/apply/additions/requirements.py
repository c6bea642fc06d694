"""Copies of the requirements files without CUDA builds, and requirements that other manifests name."""

from __future__ import annotations

import shlex

from rocm3d.apply.additions.constraints import NAME as CONSTRAINTS
from rocm3d.apply.install_steps import EXTRA_REQUIREMENTS, entry_files
from rocm3d.apply.repository_requirements import RepositoryRequirements, included_files, repository_requirements
from rocm3d.apply.requirement_source import RequirementsCopier
from rocm3d.apply.template import one_line
from rocm3d.manifest.requirements import is_requirements
from rocm3d.model.plan import Plan
from rocm3d.workspace.tree import Tree


def render(plan: Plan, tree: Tree, folder: str) -> dict[str, bytes]:
    """The copies keep the relative paths of the originals, so that `-r` and `-c` lines stay valid."""
    requirements = repository_requirements(plan, tree)
    copier = RequirementsCopier.from_plan(plan, requirements.source_lines)
    requirement_files = tuple(
        path for path in tree.paths() if is_requirements(path) and not path.startswith(f"{folder}/")
    )
    manifests = included_files(tree, requirement_files)
    copies = {path: copier.copy(unit) for path, unit in manifests.items() if unit is not None and path != CONSTRAINTS}
    entries = entry_files(requirements, tree)
    if requirements.by_name and EXTRA_REQUIREMENTS in entries:
        copies[EXTRA_REQUIREMENTS] = _extra_requirements(requirements, ())
    elif "requirements.txt" in entries and "requirements.txt" not in tree:
        copies["requirements.txt"] = _extra_requirements(requirements, requirements.files)
    return copies


def _extra_requirements(requirements: RepositoryRequirements, files: tuple[str, ...]) -> bytes:
    """An additional requirements file; each line has its origin as a comment."""
    lines = ["# Made by rocm3d: requirements that the repository names outside its top-level requirements files."]
    lines += [f"-r {shlex.quote(path)}" for path in files]
    lines += [f"{text}  # {one_line(where)}" for _, (text, where) in sorted(requirements.by_name.items())]
    return ("\n".join(lines) + "\n").encode()
