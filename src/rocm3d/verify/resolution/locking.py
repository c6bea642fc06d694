"""Resolves the requirements of a port once, and keeps version and hashes of each package for its lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from packaging.utils import canonicalize_name

from rocm3d.knowledge.base import Knowledge
from rocm3d.manifest.requirements import is_requirements
from rocm3d.model.credentials import without_credentials
from rocm3d.model.errors import MachineError
from rocm3d.model.lock import LockedFile, LockedPackage, UnlockedArtifact
from rocm3d.model.plan import Plan, ResolvedRequirements
from rocm3d.verify.probe import UncheckedError
from rocm3d.verify.resolution.resolver import ResolvedPackage, Resolver
from rocm3d.verify.resolution.session import ResolverSession, SetResolution, find_resolver, open_session
from rocm3d.verify.resolution.sets import RequirementSet, prepare, read_lines, requirement_sets
from rocm3d.verify.resolution.verdicts import conflicts_with_base, find_faults
from rocm3d.workspace.process import scratch_folder
from rocm3d.workspace.tree import Tree

_PYPI = "https://pypi.org/simple"
ENTRY_FILES = ("requirements.txt", "requirements-rocm3d.txt")
"""The files of a port that install.sh installs together; they include all others."""

RequirementFiles = Mapping[str, bytes]
"""Requirements files and constraints of a port, by their path in its folder."""


@dataclass(frozen=True)
class StackResolution:
    """The requirements on one stack.

    `problem`: why they have no installation; `index_problem`: why that is not known. `left_out`: what cannot be built
    for the stack's Python, and what a port must not install.
    """

    resolved: ResolvedRequirements = field(default_factory=ResolvedRequirements)
    problem: str = ""
    index_problem: str = ""
    left_out: tuple[str, ...] = ()


def find_uv_resolver() -> Resolver:
    """uv with the indexes of this machine. Raises MachineError if it is not installed."""
    try:
        return find_resolver("uv")
    except UncheckedError as error:
        raise MachineError(str(error), hint="the lock needs uv") from error


def resolve_files(plan: Plan, files: RequirementFiles, knowledge: Knowledge, resolver: Resolver) -> StackResolution:
    """Resolves the entry files on the stack of a plan, which must have one."""
    assert plan.base is not None
    requirement_set = _joined_set(files)
    if not requirement_set.lines:
        return StackResolution()
    with open_session(resolver, plan.base, knowledge, plan.platform) as session:
        return _stack_resolution(session.resolve_on_stack(prepare(requirement_set, session.web)), session)


def _joined_set(files: RequirementFiles) -> RequirementSet:
    with scratch_folder() as folder:
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        tree = Tree.open(folder)
        sets = requirement_sets(tree, lambda path: path in ENTRY_FILES and is_requirements(path))
        lines = tuple(dict.fromkeys(line for requirement_set in sets for line in requirement_set.lines))
        constraints = tuple(line for requirement_set in sets for line in requirement_set.constraints)
        urls = tuple(dict.fromkeys(url for requirement_set in sets for url in requirement_set.urls))
        return RequirementSet("requirements", lines, (*constraints, *read_lines(tree, "constraints.txt")), urls)


def _stack_resolution(answer: SetResolution, session: ResolverSession) -> StackResolution:
    resolution, problem = answer.resolution, answer.resolution.problem
    if problem is not None and problem.kind == "conflict":
        chains = "; ".join(conflicts_with_base(resolution, session.base))
        return StackResolution(problem=without_credentials(chains or problem.text))
    if problem is not None:
        return StackResolution(index_problem=without_credentials(f"{problem.kind}: {problem.text}"))
    faults = find_faults(resolution, session.base, session.knowledge)
    unbuilt = [f"{item.name} does not build" for item in answer.excluded if item.is_build]
    index = session.resolver.indexes.default or _PYPI
    return StackResolution(_resolved(answer, session, index), left_out=(*unbuilt, *faults))


def _resolved(answer: SetResolution, session: ResolverSession, index: str) -> ResolvedRequirements:
    packages = [item for item in answer.resolution.packages if _name(item) not in session.base.versions]
    locked = [package for item in packages if (package := _locked(item, index)) is not None]
    names = {package.name for package in locked}
    unlocked = [*_unlocked(packages, names)]
    unlocked += [
        UnlockedArtifact(kind="package", name=item.name, reason=without_credentials(item.reason))
        for item in answer.excluded
    ]
    return ResolvedRequirements(packages=tuple(locked), unlocked=tuple(unlocked))


def _unlocked(packages: list[ResolvedPackage], locked: set[str]) -> Iterator[UnlockedArtifact]:
    for item in packages:
        if _name(item) not in locked:
            reason = "it has no wheel, and its build fetches what its code names" if item.files else "it has no hash"
            yield UnlockedArtifact(kind="package", name=_name(item), reason=reason)


def _locked(item: ResolvedPackage, index: str) -> LockedPackage | None:
    """None unless a wheel can be installed by its hash."""
    wheels = [LockedFile(name=name, sha256=digest) for name, digest in item.files if name.endswith(".whl")]
    if not wheels or not item.version or item.is_source:
        return None
    return LockedPackage(name=_name(item), version=item.version, index=without_credentials(index), files=tuple(wheels))


def _name(item: ResolvedPackage) -> str:
    return str(canonicalize_name(item.name))
