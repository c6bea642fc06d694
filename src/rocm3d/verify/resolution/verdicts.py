"""Verdicts of level resolve, from resolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Outcome, Verdict
from rocm3d.verify.resolution.download_size import measure_download
from rocm3d.verify.resolution.faults import conflicts_with_base, find_faults

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.verify.resolution.prepare import ExcludedRequirement
    from rocm3d.verify.resolution.session import ResolverSession, SetResolution


def verdict(probe: str, outcome: Outcome, reason: str = "", checked: Iterable[str] = ()) -> Verdict:
    """A verdict of level resolve."""
    return Verdict(level="resolve", probe=probe, outcome=outcome, reason=reason, looked_at=tuple(checked))


def excluded_verdicts(probe: str, excluded: Iterable[ExcludedRequirement]) -> list[Verdict]:
    """One not_run for each excluded distribution."""
    return [verdict(probe, "not_run", f"{item.name}: {item.reason}") for item in dict.fromkeys(excluded)]


def set_verdicts(probe: str, set_resolution: SetResolution, session: ResolverSession) -> list[Verdict]:
    """The verdict on one set, then those on its excluded distributions. No verdict on a set that became empty."""
    excluded = excluded_verdicts(probe, set_resolution.excluded)
    return [_set_verdict(probe, set_resolution, session), *excluded] if set_resolution.prepared.lines else excluded


def _set_verdict(probe: str, set_resolution: SetResolution, session: ResolverSession) -> Verdict:
    resolution, source = set_resolution.resolution, set_resolution.prepared.source
    if resolution.problem is None:
        fault_texts = find_faults(resolution, session.base, session.knowledge)
        if fault_texts:
            return verdict(
                probe, "failed", f"{source}: {'; '.join(fault_texts)}", _describe_download(set_resolution, session)
            )
        unchanged = f"unchanged: {session.base.description}"
        return verdict(
            probe,
            "passed",
            "",
            [*_describe_download(set_resolution, session), unchanged, *_package_notes(set_resolution, session)],
        )
    problem = resolution.problem
    if problem.kind == "conflict":
        conflicts = conflicts_with_base(resolution, session.base)
        return verdict(
            probe, "failed", f"{source}: {'; '.join(conflicts) or problem.text}", [f"{source} by {session.label}"]
        )
    return verdict(probe, "not_run", f"{source}: {problem.kind}: {problem.text}")


def _describe_download(set_resolution: SetResolution, session: ResolverSession) -> list[str]:
    """The download size without the stack's own distributions."""
    downloads = tuple(item for item in set_resolution.resolution.packages if item.name not in session.base.versions)
    download_size = measure_download(downloads, session.knowledge, session.web)
    return [
        f"{set_resolution.prepared.source}: {download_size}, in addition to the stack, by {session.label}",
        *set_resolution.prepared.notes,
    ]


def _package_notes(set_resolution: SetResolution, session: ResolverSession) -> list[str]:
    """Transitive packages that have a record but no decision, and packages without a wheel."""
    direct_names = {line.name for line in set_resolution.prepared.lines}
    packages = set_resolution.resolution.packages
    transitive = [
        item.name for item in packages if item.name not in session.base.versions and item.name not in direct_names
    ]
    transitive = [name for name in transitive if session.knowledge.package_by_pip(name) is not None]
    source_builds = [f"{item.name} {item.version}" for item in packages if item.is_source]
    return [
        *([f"transitive dependencies that default to CUDA: {', '.join(transitive)}"] if transitive else []),
        *([f"no wheel, built from source: {', '.join(source_builds)}"] if source_builds else []),
    ]
