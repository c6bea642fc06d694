"""Turns a route's commands into lines of install.sh: clones go to the build folder, pip runs in shell functions."""

from __future__ import annotations

import posixpath
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocm3d.apply.origin import Checkout, checkout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rocm3d.apply.folders import Folders
    from rocm3d.model.plan import DependencyDecision

_VALUED = frozenset({"--index-url", "-i", "--find-links", "-f", "-c", "-r", "--no-binary", "--only-binary", "-C"})
_NOT_ISOLATED = "--no-build-isolation"


@dataclass(frozen=True)
class Wheels:
    """Packages of one `pip install`. Calls with the same options and environment are merged into one step."""

    options: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    names: tuple[str, ...]


@dataclass
class Rewritten:
    """`wheels` alone if nothing is built, else `lines` in order; `manual` lists what the user must do by hand."""

    wheels: list[Wheels] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def rewritten(item: DependencyDecision, folders: Folders, kept: Checkout | str | None) -> Rewritten:
    """The commands of a decision. `existing_source` is the package's code that the repository contains or clones."""
    rewriter = _Rewriter(item, folders, kept)
    commands = item.commands or tuple(_implied(item, kept))
    for command in commands:
        rewriter.take(command)
    out = rewriter.out if len(rewriter.out.wheels) < len(commands) else Rewritten(wheels=rewriter.out.wheels)
    if item.decision == "blocked" or (item.decision == "build" and not commands) or _is_elsewhere(item):
        out.left.append(f"{item.decision}: {item.reason}")
    return out


def _implied(item: DependencyDecision, kept: Checkout | str | None) -> Iterator[tuple[str, ...]]:
    """The commands of a route that lists none."""
    if item.requirement and item.index:
        yield "pip", "install", "--no-deps", "--index-url", item.index, item.requirement
    elif item.decision == "build" and kept is not None:
        yield "pip", "install", _NOT_ISOLATED, "--no-deps", f"./{item.name}"


def _is_elsewhere(item: DependencyDecision) -> bool:
    """Whether pip cannot install the route, for example a separate container image."""
    return item.decision == "replace" and not item.commands and not item.requirement


@dataclass
class _Rewriter:
    item: DependencyDecision
    folders: Folders
    kept: Checkout | str | None
    out: Rewritten = field(default_factory=Rewritten)
    clones: dict[str, str] = field(default_factory=dict)

    def take(self, command: Sequence[str]) -> None:
        words = list(command)
        if words[:2] == ["git", "clone"]:
            self._clone(words[2:])
        elif words[:2] in (["pip", "install"], ["pip3", "install"]):
            self._install(words[2:])
        elif words[:1] in (["pip"], ["pip3"]):
            self._line("run", '"$PYTHON"', "-m", "pip", *map(shlex.quote, words[1:]))
        elif words[:1] in (["python"], ["python3"]):
            self._line("run", '"$PYTHON"', *map(shlex.quote, words[1:]))
        else:
            self._line("run", *map(shlex.quote, words))

    def _line(self, *words: str) -> None:
        given = [f"{name}={shlex.quote(value)}" for name, value in sorted(self.item.env.items())]
        self.out.lines.append(" ".join([*given, *words]))

    def _clone(self, words: list[str]) -> None:
        revision, named = "", []
        given = iter(words)
        for word in given:
            if word in ("-b", "--branch"):
                revision = next(given, "")
            elif word in ("--depth", "-j", "--jobs"):
                next(given, "")
            elif not word.startswith("-"):
                named.append(word)
        source = checkout(f"git+{named[0]}@{revision}" if revision else f"git+{named[0]}") if named else None
        if source is None:
            self.out.left.append(shlex.join(["git", "clone", *words]))
            return
        self.clones[posixpath.normpath(named[1] if len(named) > 1 else source.name)] = self._fetch(source)

    def _fetch(self, source: Checkout) -> str:
        self.out.lines.append(fetch_line(source))
        return source.place

    def _install(self, words: list[str]) -> None:
        options, wanted = _split(words)
        folders = [(word, self._folder(word)) for word in wanted]
        sources = [place for _, place in folders if place is not None]
        names = tuple(word for word, place in folders if place is None)
        missing = [word for word in names if _is_path(word)]
        if missing:
            self.out.left.append(f"{shlex.join(['pip', 'install', *words])}  # not found: {', '.join(missing)}")
        elif sources:
            for place in sources:
                self._line("build", place, "''", *map(shlex.quote, options))
        elif _NOT_ISOLATED in options:
            self._line("pip_install", *map(shlex.quote, (*options, *names)))
        else:
            self._wheels(options, names)

    def _wheels(self, options: tuple[str, ...], names: tuple[str, ...]) -> None:
        self.out.wheels.append(Wheels(options, tuple(sorted(self.item.env.items())), names))
        self._line("pip_install", *map(shlex.quote, (*options, *names)))

    def _folder(self, word: str) -> str | None:
        """The shell word of a source folder; None for a package name, a URL, or a folder that does not exist."""
        source, path = checkout(word), posixpath.normpath(word)
        if source is None and not _is_path(word):
            return None
        for cloned, place in self.clones.items() if source is None else ():
            if path == cloned or path.startswith(f"{cloned}/"):
                inside = posixpath.relpath(path, cloned)
                return clone_word(place, "" if inside == "." else inside)
        here = source or self.kept or (self.folders.place(word) if path != "." else None)
        if isinstance(here, Checkout):
            return clone_word(self._fetch(here), here.folder)
        return None if here is None else folder_word(here)


def fetch_line(source: Checkout) -> str:
    return shlex.join(["fetch", source.place, source.name, source.url, source.revision])


def folder_word(path: str) -> str:
    """The folder of the repository, quoted for install.sh."""
    return '"$root"' if path == "." else f'"$root"/{shlex.quote(path)}'


def clone_word(place: str, folder: str = "") -> str:
    """The clone in the build folder, or a folder in it, quoted for install.sh."""
    return f'"$build"/{shlex.quote(posixpath.join(place, folder) if folder else place)}'


def _is_path(word: str) -> bool:
    return word.startswith((".", "/", "~")) or ("/" in word and "://" not in word)


def _split(words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """pip's options with their values, and the requirements. `--extra-index-url` becomes `--index-url`."""
    options: list[str] = []
    wanted: list[str] = []
    given = iter(words)
    for word in given:
        name, equals, value = word.partition("=")
        if name == "--extra-index-url":
            options += ["--index-url", value if equals else next(given, "")]
        elif word in _VALUED:
            options += [word, next(given, "")]
        elif word in ("-e", "--editable"):
            options.append("-e")
        else:
            (options if word.startswith("-") else wanted).append(word)
    return tuple(options), wanted
