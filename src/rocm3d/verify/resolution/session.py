"""A resolver session: the resolver, stub wheels of the stack that no install may replace, and a scratch folder."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from packaging.utils import canonicalize_name

from rocm3d.knowledge.base import Knowledge
from rocm3d.model.plan_choices import Platform
from rocm3d.model.stack import Stack
from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, UncheckedError
from rocm3d.verify.resolution.index import read_index_settings
from rocm3d.verify.resolution.pip import Pip, find_pip
from rocm3d.verify.resolution.resolver import Resolution, Resolver, ResolveRequest
from rocm3d.verify.resolution.sets import ExcludedRequirement, PreparedSet, RequirementLine
from rocm3d.verify.resolution.uv import Uv, find_uv
from rocm3d.workspace.process import scratch_folder
from rocm3d.workspace.web import WebClient, without_secrets

_MAX_ROUNDS = 8  # of excluding one distribution and resolving again


@dataclass(frozen=True)
class StackBase:
    """Distributions of the stack with their local versions. `packages`: ids of their package records."""

    versions: Mapping[str, str]
    packages: frozenset[str]
    python: str
    platform: Platform

    @property
    def pins(self) -> list[str]:
        """The versions as lines of a constraints file."""
        return [f"{name}=={version}" for name, version in self.versions.items()]

    @property
    def description(self) -> str:
        """The versions as one text, for verdicts."""
        return ", ".join(f"{name} {version}" for name, version in self.versions.items())


def base_of(stack: Stack, knowledge: Knowledge, platform: Platform) -> StackBase:
    """The base of a stack. For a stack that was read from a machine only the version of torch is known."""
    provided = stack.provides or {"torch": stack.torch}
    versions = {str(canonicalize_name(name)): f"{version}+rocm{stack.rocm}" for name, version in provided.items()}
    owners = (knowledge.package_by_pip(name) for name in versions)
    return StackBase(versions, frozenset(owner.id for owner in owners if owner is not None), stack.python, platform)


def write_stub_wheels(base: StackBase, folder: Path) -> None:
    """One wheel for each distribution, without requirements: the real one is already installed with the stack."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, version in base.versions.items():
        stem = f"{name.replace('-', '_')}-{version}"
        with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{stem}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            wheel.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{stem}.dist-info/RECORD", "")


@dataclass(frozen=True)
class SetResolution:
    """A set, its resolution, and all distributions that were excluded to get it."""

    prepared: PreparedSet
    resolution: Resolution
    excluded: tuple[ExcludedRequirement, ...]


@dataclass
class ResolverSession:
    """What the probes of level resolve share. `folder` holds the stub wheels; `numbers` makes folder names unique.

    `resolutions` is a cache that the sessions of one verification share.
    """

    resolver: Resolver
    base: StackBase
    knowledge: Knowledge
    web: WebClient
    folder: Path
    numbers: Iterator[int]
    resolutions: dict[object, Resolution]

    @property
    def label(self) -> str:
        """Resolver, Python and platform, for verdicts."""
        return f"{self.resolver.label}, Python {self.base.python}, {self.base.platform}"

    def resolve_on_stack(
        self,
        prepared: PreparedSet,
        index: str = "",
        *,
        no_dependencies: bool = False,
        overrides: Sequence[RequirementLine] = (),
    ) -> SetResolution:
        """Resolves a set pinned to the stack. `index` replaces the machine's indexes."""
        others = tuple(line for line in prepared.constraints if line.name not in self.base.versions)
        request = self._request(prepared, others)
        if overrides:
            overrides_file = request.requirements.with_name("overrides.txt")
            _write(overrides_file, [line.text for line in overrides])
            request = replace(request, overrides=(overrides_file,))
        pinned = (self.folder / "base.txt", *request.constraints)
        stub_wheels = (str(self.folder / "base"), *request.links)
        stack_request = replace(
            request, constraints=pinned, links=stub_wheels, index=index, without_dependencies=no_dependencies
        )
        return self._resolve(prepared, stack_request)

    def resolve_on_new_machine(self, prepared: PreparedSet, python: str) -> SetResolution:
        """Resolves a set as on a new machine with nothing installed."""
        return self._resolve(prepared, replace(self._request(prepared, prepared.constraints), python=python))

    def _resolve(self, prepared: PreparedSet, request: ResolveRequest) -> SetResolution:
        """Excludes distributions that cannot be built or fetched, one per round, and resolves the others again."""
        exclusions: list[ExcludedRequirement] = []
        resolution = self._cached_resolution(request) if prepared.lines else Resolution()
        while (
            len(exclusions) < _MAX_ROUNDS
            and (exclusion := _exclusion_for(resolution))
            and exclusion.name not in _names(exclusions)
        ):
            exclusions.append(exclusion)
            exclusions_file = request.requirements.with_name("excluded.txt")
            _write(exclusions_file, [f"{item.name} ; python_version < '0'" for item in exclusions])
            _write(request.requirements, [line.text for line in prepared.lines if line.name not in _names(exclusions)])
            resolution = self._cached_resolution(replace(request, overrides=(*request.overrides, exclusions_file)))
        return SetResolution(prepared, resolution, (*prepared.excluded, *exclusions))

    def _cached_resolution(self, request: ResolveRequest) -> Resolution:
        key = request.key
        if key not in self.resolutions:
            self.resolutions[key] = self.resolver.resolve(request)
        return self.resolutions[key]

    def _request(self, prepared: PreparedSet, constraints: Sequence[RequirementLine]) -> ResolveRequest:
        set_folder = self.folder / f"set{next(self.numbers)}"
        set_folder.mkdir()
        _write(set_folder / "requirements.txt", [line.text for line in prepared.lines])
        if constraints:
            _write(set_folder / "constraints.txt", [line.text for line in constraints])
        return ResolveRequest(
            requirements=set_folder / "requirements.txt",
            python=self.base.python,
            platform=self.base.platform,
            constraints=(set_folder / "constraints.txt",) if constraints else (),
            links=prepared.pages,
            indexes=prepared.indexes,
        )


@contextmanager
def open_session(
    resolver: Resolver,
    stack: Stack,
    knowledge: Knowledge,
    platform: Platform,
    resolutions: dict[object, Resolution] | None = None,
) -> Iterator[ResolverSession]:
    """Opens a session for a stack."""
    base = base_of(stack, knowledge, platform)
    with scratch_folder() as folder:
        write_stub_wheels(base, folder / "base")
        _write(folder / "base.txt", base.pins)
        web, cache = WebClient(resolver.indexes.cert), {} if resolutions is None else resolutions
        yield ResolverSession(resolver, base, knowledge, web, folder, count(1), cache)


def find_resolver(name: str) -> Resolver:
    """The resolver with this machine's indexes. Raises UncheckedError if it is not installed."""
    indexes = read_index_settings()
    if name == "pip":
        if command := find_pip():
            return Pip(command, indexes)
        raise UncheckedError("pip is not installed. Use --resolver uv")
    if executable := find_uv():
        return Uv(executable, indexes)
    raise UncheckedError("uv is not installed. Run pip install uv, or use --resolver pip")


def in_session(
    check: Callable[[Case, ResolverSession], Iterable[Verdict]],
) -> Callable[[Case], tuple[Verdict, ...]]:
    """Runs the check of a probe in a session for the plan's stack. Equal verdicts are returned once."""

    def run_check(case: Case) -> tuple[Verdict, ...]:
        if case.plan.base is None:
            raise UncheckedError("the plan chose no stack", "skipped")
        resolver, stack = find_resolver(case.network.resolver), case.plan.base
        with open_session(resolver, stack, case.knowledge, case.plan.platform, case.network.resolutions) as session:
            index = resolver.indexes.default
            why = session.web.why_unreachable(index) if index and not resolver.indexes.uv_is_configured else ""
            if why:
                raise UncheckedError(f"the index {without_secrets(index)} does not respond: {why}")
            return tuple(dict.fromkeys(check(case, session)))

    return run_check


def _exclusion_for(resolution: Resolution) -> ExcludedRequirement | None:
    """The distribution that caused the problem; None for a conflict, or if the index itself does not respond."""
    problem = resolution.problem
    if problem is None or problem.kind not in ("build", "unreachable") or not problem.subject or "/" in problem.subject:
        return None
    why = "its metadata needs a build, which failed" if problem.kind == "build" else "cannot be fetched"
    name = str(canonicalize_name(problem.subject))
    return ExcludedRequirement(name, f"{why}: {problem.text}", problem.kind == "build")


def _names(excluded: list[ExcludedRequirement]) -> set[str]:
    return {item.name for item in excluded}


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
