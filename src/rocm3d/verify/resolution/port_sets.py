"""The requirement sets of a port: files of its folder, and lines of the repository's files that the plan keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.manifest.requirements import is_requirements
from rocm3d.verify.resolution.sets import RequirementLine, RequirementSet, read_lines, requirement_sets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.verify.probe import Case

MAX_SETS = 12
"""Limit of sets to resolve. Each takes seconds, and repositories with more have them for optional parts."""


def port_sets(case: Case) -> list[RequirementSet]:
    """All sets, without the limit; those of the port's folder first."""
    return list(_sets(case))


def overrides(case: Case) -> tuple[RequirementLine, ...]:
    """Lines of the port's overrides.txt. Only uv supports overrides."""
    return read_lines(case.tree, f"{case.patch.folder}/overrides.txt")


def _sets(case: Case) -> Iterator[RequirementSet]:
    folder = f"{case.patch.folder}/"
    constraints = read_lines(case.tree, f"{folder}constraints.txt")
    port_files = requirement_sets(case.tree, lambda path: path.startswith(folder) and is_requirements(path))
    for requirement_set in port_files:
        yield replace(requirement_set, constraints=(*requirement_set.constraints, *constraints))
    covered = {line.name for port_set in port_files for line in port_set.lines}
    remaining_names = {
        str(canonicalize_name(item.name)) for item in case.plan.decisions if item.decision == "keep"
    } - covered
    # A line that is missing in the port's copy is a source that install.sh builds: resolve_builds checks it.
    for requirement_set in requirement_sets(case.tree, lambda path: not path.startswith(folder)):
        lines = tuple(line for line in requirement_set.lines if line.name in remaining_names)
        if lines:
            yield RequirementSet(f"{requirement_set.source} (lines that the plan keeps)", lines, constraints)
