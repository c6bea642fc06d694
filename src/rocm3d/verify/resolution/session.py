"""One visit to a resolver: the program, the stack's stand-ins, and a folder to work in."""

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
from rocm3d.workspace.web import Web

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.stack import Stack
    from rocm3d.model.wish import Platform
    from rocm3d.verify.resolution.answer import Resolver
    from rocm3d.verify.resolution.sets import Line

_ROUNDS = 8  # of setting one distribution aside and asking again


@dataclass(frozen=True)
class Asked:
    """A set, the answer, and all that was set aside on the way."""

    given: Prepared
    resolution: Resolution
    aside: tuple[Aside, ...]


@dataclass(frozen=True)
class Session:
    """What the probes of the level share. `folder` holds the stand-ins."""

    resolver: Resolver
    base: Base
    knowledge: Knowledge
    web: Web
    folder: Path
    numbers: Iterator[int]

    @property
    def label(self) -> str:
        """Who is asked, and for what."""
        return f"{self.resolver.label}, Python {self.base.python}, {self.base.platform}"

    def on_base(
        self, given: Prepared, index: str = "", *, alone: bool = False, overrides: Sequence[Line] = ()
    ) -> Asked:
        """Resolve a set pinned to the stack. `index` is asked instead of the machine's; `alone`: no dependencies."""
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
        """Resolve a set as on a machine with nothing installed, which is what a newcomer has."""
        return self._ask(given, replace(self._request(given, given.constraints), python=python))

    def _ask(self, given: Prepared, request: Request) -> Asked:
        """What cannot be built or fetched here is set aside, and the rest is asked for again."""
        aside: list[Aside] = []
        resolution = self.resolver.resolve(request) if given.lines else Resolution()
        while len(aside) < _ROUNDS and (found := _to_set_aside(resolution)) and found.name not in _names(aside):
            aside.append(found)
            excluded = request.requirements.with_name("aside.txt")
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
    """Open one for a stack."""
    base = base_of(stack, knowledge, platform)
    with scratch_folder() as folder:
        write_stand_ins(base, folder / "base")
        _write(folder / "base.txt", base.pins)
        yield Session(resolver, base, knowledge, Web(resolver.indexes.cert), folder, count(1))


def resolver_named(name: str) -> Resolver | str:
    """The resolver with this machine's indexes; a text that says what is missing where it is not here."""
    indexes: Indexes = configured()
    if name == "pip":
        command = find_pip()
        return "pip is not installed here; use --resolver uv" if command is None else Pip(command, indexes)
    executable = find_uv()
    missing = 'uv is not installed here: pip install "rocm3d[resolve]", or use --resolver pip'
    return missing if executable is None else Uv(executable, indexes)


def _to_set_aside(resolution: Resolution) -> Aside | None:
    """The distribution that stopped it; None for a conflict, or where the index itself does not answer."""
    problem = resolution.problem
    if problem is None or problem.kind not in ("build", "unreachable") or not problem.subject or "/" in problem.subject:
        return None
    why = "has to be built to be read, and that fails here" if problem.kind == "build" else "cannot be fetched"
    return Aside(str(canonicalize_name(problem.subject)), f"{why}: {problem.text}")


def _names(aside: list[Aside]) -> set[str]:
    return {item.name for item in aside}


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
