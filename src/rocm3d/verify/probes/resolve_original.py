"""Resolves what the original requirements would install on a new machine. Informative: it never fails a port."""

from __future__ import annotations

from collections.abc import Iterator

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.verify.resolution.session import ResolverSession, SetResolution, in_session
from rocm3d.verify.resolution.sets import RequirementSet, prepare, requirement_sets
from rocm3d.verify.resolution.verdicts import measure_download

_MAX_FILES = 6  # files; sorted by depth, and people install from the outermost ones


@in_session
def attempt(case: Case, session: ResolverSession) -> Iterator[Verdict]:
    """Reports the number of packages, the download size and the CUDA packages."""
    folder = f"{case.patch.folder}/"
    sets = requirement_sets(case.tree, lambda path: not path.startswith(folder))
    texts = [text for requirement_set in sets[:_MAX_FILES] for text in _describe_set(requirement_set, session)]
    if texts:
        yield probe.verdict("passed", "", texts)
    else:
        yield probe.verdict("skipped", "the original has no requirements that pip would install")


def _describe_set(requirement_set: RequirementSet, session: ResolverSession) -> list[str]:
    """Tries the stack's Python first, then older ones: the original may have been written for those."""
    prepared = prepare(requirement_set, session.web, plain_versions=True)
    others = sorted({stack.python for stack in session.knowledge.stacks.values()}, key=_version_key, reverse=True)
    older = [python for python in others if _version_key(python) < _version_key(session.base.python)]
    for python in (session.base.python, *older):
        set_resolution = session.resolve_on_new_machine(prepared, python)
        if set_resolution.resolution.problem is None:
            return _describe_resolution(set_resolution, python, session)
    problem = set_resolution.resolution.problem
    return [f"{requirement_set.source}: does not resolve: {problem.text[:300] if problem else ''}", *prepared.notes]


def _describe_resolution(set_resolution: SetResolution, python: str, session: ResolverSession) -> list[str]:
    download_size = measure_download(set_resolution.resolution.packages, session.knowledge, session.web)
    base = [
        f"{item.name} {item.version}" for item in set_resolution.resolution.packages if _is_of_base(item.name, session)
    ]
    source = f"{set_resolution.prepared.source}: {download_size} by {session.resolver.label}, Python {python}"
    return [
        source,
        *([f"it would install {', '.join(base)}"] if base else []),
        *([f"CUDA packages: {', '.join(download_size.cuda_packages)}"] if download_size.cuda_packages else []),
        *(f"without {item.name}: {item.reason}" for item in set_resolution.excluded),
        *set_resolution.prepared.notes,
    ]


def _is_of_base(name: str, session: ResolverSession) -> bool:
    package = session.knowledge.package_by_pip(name)
    return package is not None and package.id in session.base.packages


def _version_key(python: str) -> tuple[int, ...]:
    return tuple(int(part) for part in python.split("."))


probe = Probe(__name__, "resolve", attempt, needs_network=True)
