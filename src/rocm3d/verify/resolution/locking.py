"""Resolves the requirements of a port once, and keeps version and hashes of each package for its lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from packaging.utils import canonicalize_name

from rocm3d.knowledge.base import Knowledge
from rocm3d.manifest.requirements import is_requirements
from rocm3d.model.credentials import without_credentials
from rocm3d.model.errors import MachineError, UserError
from rocm3d.model.lock import LockedFile, LockedPackage, UnlockedArtifact
from rocm3d.model.plan import Plan, ResolvedRequirements
from rocm3d.verify.probe import UncheckedError
from rocm3d.verify.resolution.resolver import ResolvedPackage
from rocm3d.verify.resolution.session import ResolverSession, SetResolution, find_resolver, open_session
from rocm3d.verify.resolution.sets import RequirementSet, prepare, read_lines, requirement_sets
from rocm3d.workspace.process import scratch_folder
from rocm3d.workspace.tree import Tree

_PYPI = "https://pypi.org/simple"


def lock_requirements(plan: Plan, files: Mapping[str, bytes], knowledge: Knowledge) -> ResolvedRequirements:
    """What uv resolves for the entry files of a port, which are all installed together.

    `files` are its requirements files and constraints. Raises MachineError without uv or without an index.
    """
    if plan.base is None:
        raise UserError("the plan chose no stack, so there is nothing to lock")
    try:
        resolver = find_resolver("uv")
    except UncheckedError as error:
        raise MachineError(str(error), hint="the lock needs uv") from error
    with scratch_folder() as folder:
        for path, data in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        tree = Tree.open(folder)
        sets = requirement_sets(tree, lambda path: path in _ENTRIES and is_requirements(path))
        lines = tuple(dict.fromkeys(line for requirement_set in sets for line in requirement_set.lines))
        constraints = tuple(line for requirement_set in sets for line in requirement_set.constraints)
        urls = tuple(dict.fromkeys(url for requirement_set in sets for url in requirement_set.urls))
        constraints += read_lines(tree, "constraints.txt")
    if not lines:
        return ResolvedRequirements()
    with open_session(resolver, plan.base, knowledge, plan.platform) as session:
        prepared = prepare(RequirementSet("requirements", lines, constraints, urls), session.web)
        resolution = session.resolve_on_stack(prepared)
        return _resolved(resolution, session, resolver.indexes.default or _PYPI)


_ENTRIES = ("requirements.txt", "requirements-rocm3d.txt")


def _resolved(answer: SetResolution, session: ResolverSession, index: str) -> ResolvedRequirements:
    problem = answer.resolution.problem
    if problem is not None:
        text = without_credentials(problem.text)
        raise MachineError(f"the requirements do not resolve: {text}", hint="see `rocm3d verify . --level resolve`")
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
