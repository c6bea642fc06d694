"""What a port has pip install: the requirements files of its folder, and what else the repository names and keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.manifest.requirements import is_requirements
from rocm3d.verify.resolution.sets import Line, RequirementSet, lines_of, requirement_sets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.verify.probe import Case

MOST = 12
"""Sets that are asked for; a repository with more has them for its parts, and each costs seconds."""


def port_sets(case: Case) -> list[RequirementSet]:
    """All of them, whatever their number; those of the port's folder first."""
    return list(_sets(case))


def overrides(case: Case) -> tuple[Line, ...]:
    """What the port's folder has for uv alone; pip knows nothing of the kind."""
    return lines_of(case.tree, f"{case.patch.folder}/overrides.txt")


def _sets(case: Case) -> Iterator[RequirementSet]:
    folder = f"{case.patch.folder}/"
    constraints = lines_of(case.tree, f"{folder}constraints.txt")
    ours = requirement_sets(case.tree, lambda path: path.startswith(folder) and is_requirements(path))
    for given in ours:
        yield replace(given, constraints=(*given.constraints, *constraints))
    covered = {line.name for given in ours for line in given.lines}
    kept = {str(canonicalize_name(item.name)) for item in case.plan.decisions if item.decision == "keep"} - covered
    # A line that the copy of its file lacks is a source that install.sh clones and builds: it has needs of its own.
    for given in requirement_sets(case.tree, lambda path: not path.startswith(folder)):
        lines = tuple(line for line in given.lines if line.name in kept)
        if lines:
            yield RequirementSet(f"{given.source}, as far as it is kept", lines, constraints)
