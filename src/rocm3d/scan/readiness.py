"""A first estimate of how far a repository is from running on ROCm, independent of the GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.scan.auxiliary_files import is_auxiliary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.finding import Finding
    from rocm3d.model.inventory import Dependency, Readiness
    from rocm3d.model.package import Package


def readiness(
    findings: Sequence[Finding], dependencies: Sequence[Dependency], knowledge: Knowledge
) -> tuple[Readiness, tuple[str, ...]]:
    """The readiness state and the reasons for it."""
    serious = [finding for finding in findings if finding.severity != "note"]
    packages = sorted(
        {
            dependency.package
            for dependency in dependencies
            if dependency.package and not is_auxiliary(dependency.location.path)
        }
    )
    imported = {finding.package for finding in serious if finding.package and not finding.is_dependency}
    without_route = [
        name for name in packages if not _has_route(knowledge.packages[name], is_imported=name in imported)
    ]
    if without_route:
        return "blocked", tuple(f"{name} has no route to ROCm" for name in without_route)
    edits = [finding for finding in serious if _is_edit(finding, knowledge)]
    if edits:
        rules = sorted({finding.rule for finding in edits})
        return "needs-edits", tuple(f"{rule}: {sum(f.rule == rule for f in edits)}" for rule in rules)
    if serious:
        return "ready-with-deps", tuple(f"{name} must be installed from another source" for name in packages) or (
            "install commands request CUDA builds",
        )
    return "ready", ("no CUDA-specific code or dependency found",)


def _has_route(package: Package, *, is_imported: bool) -> bool:
    routes = (route for route in package.routes if route.status == "active")
    return any(route.decision != "blocked" and not (route.unless_imported and is_imported) for route in routes)


def _is_edit(finding: Finding, knowledge: Knowledge) -> bool:
    """Whether the finding requires a change of the program's source.

    The route of its package resolves an import, unless no route keeps the import name; then the finding is an error.
    """
    code = knowledge.codes[finding.code]
    if finding.is_dependency or code.is_about_environment:
        return False
    return code.answered_by != "decision" or finding.severity == "error"
