"""A resolver session: the resolver, stub wheels of the stack, and a scratch folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.verify.resolution.base import StackBase, base_of, write_stub_wheels
from rocm3d.verify.resolution.index import IndexSettings, read_index_settings
from rocm3d.verify.resolution.pip import Pip, find_pip
from rocm3d.verify.resolution.prepare import ExcludedRequirement, PreparedSet
from rocm3d.verify.resolution.resolver import Resolution, ResolveRequest
from rocm3d.verify.resolution.uv import Uv, find_uv
from rocm3d.workspace.process import scratch_folder
from rocm3d.workspace.web import WebClient

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.plan_choices import Platform
    from rocm3d.model.stack import Stack
    from rocm3d.verify.resolution.resolver import Resolver
    from rocm3d.verify.resolution.sets import RequirementLine

_MAX_ROUNDS = 8  # of excluding one distribution and resolving again


@dataclass(frozen=True)
class SetResolution:
    """A set, its resolution, and all distributions that were excluded to get it."""

    prepared: PreparedSet
    resolution: Resolution
    excluded: tuple[ExcludedRequirement, ...]


@dataclass(frozen=True)
class ResolverSession:
    """What the probes of level resolve share. `folder` holds the stub wheels; `numbers` makes folder names unique."""

    resolver: Resolver
    base: StackBase
    knowledge: Knowledge
    web: WebClient
    folder: Path
    numbers: Iterator[int]

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
        resolution = self.resolver.resolve(request) if prepared.lines else Resolution()
        while (
            len(exclusions) < _MAX_ROUNDS
            and (exclusion := _exclusion_for(resolution))
            and exclusion.name not in _names(exclusions)
        ):
            exclusions.append(exclusion)
            exclusions_file = request.requirements.with_name("excluded.txt")
            _write(exclusions_file, [f"{item.name} ; python_version < '0'" for item in exclusions])
            _write(request.requirements, [line.text for line in prepared.lines if line.name not in _names(exclusions)])
            resolution = self.resolver.resolve(replace(request, overrides=(*request.overrides, exclusions_file)))
        return SetResolution(prepared, resolution, (*prepared.excluded, *exclusions))

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
    resolver: Resolver, stack: Stack, knowledge: Knowledge, platform: Platform
) -> Iterator[ResolverSession]:
    """Opens a session for a stack."""
    base = base_of(stack, knowledge, platform)
    with scratch_folder() as folder:
        write_stub_wheels(base, folder / "base")
        _write(folder / "base.txt", base.pins)
        yield ResolverSession(resolver, base, knowledge, WebClient(resolver.indexes.cert), folder, count(1))


def find_resolver(name: str) -> Resolver | str:
    """The resolver with this machine's indexes, or an error text if it is not installed."""
    indexes: IndexSettings = read_index_settings()
    if name == "pip":
        command = find_pip()
        return "pip is not installed. Use --resolver uv" if command is None else Pip(command, indexes)
    executable = find_uv()
    missing = 'uv is not installed. Run pip install "rocm3d[resolve]", or use --resolver pip'
    return missing if executable is None else Uv(executable, indexes)


def _exclusion_for(resolution: Resolution) -> ExcludedRequirement | None:
    """The distribution that caused the problem; None for a conflict, or if the index itself does not respond."""
    problem = resolution.problem
    if problem is None or problem.kind not in ("build", "unreachable") or not problem.subject or "/" in problem.subject:
        return None
    why = "its metadata needs a build, which failed" if problem.kind == "build" else "cannot be fetched"
    return ExcludedRequirement(str(canonicalize_name(problem.subject)), f"{why}: {problem.text}")


def _names(excluded: list[ExcludedRequirement]) -> set[str]:
    return {item.name for item in excluded}


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
