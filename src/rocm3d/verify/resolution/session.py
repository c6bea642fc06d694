"""A resolver session: the resolver, stub wheels of the stack, and a scratch folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

from rocm3d.verify.resolution.answer import Request, Resolution
from rocm3d.verify.resolution.base import Base, base_of, write_stand_ins
from rocm3d.verify.resolution.index import Indexes, configured
from rocm3d.verify.resolution.pip import Pip, find_pip
from rocm3d.verify.resolution.prepare import Aside, Prepared
from rocm3d.verify.resolution.uv import Uv, find_uv
from rocm3d.workspace.scratch import scratch_folder
from rocm3d.workspace.web import WebClient

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.stack import Stack
    from rocm3d.model.wish import Platform
    from rocm3d.verify.resolution.answer import Resolver
    from rocm3d.verify.resolution.sets import Line

_ROUNDS = 8  # of excluding one distribution and resolving again


@dataclass(frozen=True)
class Asked:
    """A set, its resolution, and all distributions that were excluded to get it."""

    given: Prepared
    resolution: Resolution
    aside: tuple[Aside, ...]


@dataclass(frozen=True)
class Session:
    """What the probes of level resolve share. `folder` holds the stub wheels; `numbers` makes folder names unique."""

    resolver: Resolver
    base: Base
    knowledge: Knowledge
    web: WebClient
    folder: Path
    numbers: Iterator[int]

    @property
    def label(self) -> str:
        """Resolver, Python and platform, for verdicts."""
        return f"{self.resolver.label}, Python {self.base.python}, {self.base.platform}"

    def on_base(
        self, given: Prepared, index: str = "", *, alone: bool = False, overrides: Sequence[Line] = ()
    ) -> Asked:
        """Resolves a set pinned to the stack. `index` replaces the machine's indexes."""
        others = tuple(line for line in given.constraints if line.name not in self.base.versions)
        request = self._request(given, others)
        if overrides:
            place = request.requirements.with_name("overrides.txt")
            _write(place, [line.text for line in overrides])
            request = replace(request, overrides=(place,))
        pinned = (self.folder / "base.txt", *request.constraints)
        stand_ins = (str(self.folder / "base"), *request.links)
        changed = replace(request, constraints=pinned, links=stand_ins, index=index, without_dependencies=alone)
        return self._ask(given, changed)

    def on_nothing(self, given: Prepared, python: str) -> Asked:
        """Resolves a set as on a new machine with nothing installed."""
        return self._ask(given, replace(self._request(given, given.constraints), python=python))

    def _ask(self, given: Prepared, request: Request) -> Asked:
        """Excludes distributions that cannot be built or fetched, one per round, and resolves the others again."""
        aside: list[Aside] = []
        resolution = self.resolver.resolve(request) if given.lines else Resolution()
        while len(aside) < _ROUNDS and (found := _to_set_aside(resolution)) and found.name not in _names(aside):
            aside.append(found)
            excluded = request.requirements.with_name("excluded.txt")
            _write(excluded, [f"{item.name} ; python_version < '0'" for item in aside])
            _write(request.requirements, [line.text for line in given.lines if line.name not in _names(aside)])
            resolution = self.resolver.resolve(replace(request, overrides=(*request.overrides, excluded)))
        return Asked(given, resolution, (*given.aside, *aside))

    def _request(self, given: Prepared, constraints: Sequence[Line]) -> Request:
        place = self.folder / f"set{next(self.numbers)}"
        place.mkdir()
        _write(place / "requirements.txt", [line.text for line in given.lines])
        if constraints:
            _write(place / "constraints.txt", [line.text for line in constraints])
        return Request(
            requirements=place / "requirements.txt",
            python=self.base.python,
            platform=self.base.platform,
            constraints=(place / "constraints.txt",) if constraints else (),
            links=given.pages,
            indexes=given.indexes,
        )


@contextmanager
def session(resolver: Resolver, stack: Stack, knowledge: Knowledge, platform: Platform) -> Iterator[Session]:
    """Opens a session for a stack."""
    base = base_of(stack, knowledge, platform)
    with scratch_folder() as folder:
        write_stand_ins(base, folder / "base")
        _write(folder / "base.txt", base.pins)
        yield Session(resolver, base, knowledge, WebClient(resolver.indexes.cert), folder, count(1))


def resolver_named(name: str) -> Resolver | str:
    """The resolver with this machine's indexes, or an error text if it is not installed."""
    indexes: Indexes = configured()
    if name == "pip":
        command = find_pip()
        return "pip is not installed. Use --resolver uv" if command is None else Pip(command, indexes)
    executable = find_uv()
    missing = 'uv is not installed. Run pip install "rocm3d[resolve]", or use --resolver pip'
    return missing if executable is None else Uv(executable, indexes)


def _to_set_aside(resolution: Resolution) -> Aside | None:
    """The distribution that caused the problem; None for a conflict, or if the index itself does not respond."""
    problem = resolution.problem
    if problem is None or problem.kind not in ("build", "unreachable") or not problem.subject or "/" in problem.subject:
        return None
    why = "its metadata needs a build, which failed" if problem.kind == "build" else "cannot be fetched"
    return Aside(str(canonicalize_name(problem.subject)), f"{why}: {problem.text}")


def _names(aside: list[Aside]) -> set[str]:
    return {item.name for item in aside}


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
