"""Turns a route's commands into lines of install.sh: clones go to the build folder, pip runs in shell functions."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rocm3d.apply.installable_folders import InstallableFolders
from rocm3d.apply.requirement_source import GitCheckout, parse_git_checkout
from rocm3d.model.plan import DependencyDecision

_OPTIONS_WITH_VALUE = frozenset(
    {"--index-url", "-i", "--find-links", "-f", "-c", "-r", "--no-binary", "--only-binary", "-C"}
)
_NOT_ISOLATED = "--no-build-isolation"


@dataclass(frozen=True)
class WheelInstall:
    """Packages of one `pip install`. Calls with the same options and environment are merged into one step."""

    options: tuple[str, ...]
    env: tuple[tuple[str, str], ...]
    names: tuple[str, ...]


@dataclass
class InstallCommands:
    """`wheels` alone if nothing is built, else `lines` in order; `manual` lists what the user must do by hand."""

    wheels: list[WheelInstall] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    manual: list[str] = field(default_factory=list)


def install_commands(
    decision: DependencyDecision, folders: InstallableFolders, existing_source: GitCheckout | str | None
) -> InstallCommands:
    """The commands of a decision. `existing_source` is the package's code that the repository contains or clones."""
    rewriter = _CommandRewriter(decision, folders, existing_source)
    commands = decision.commands or tuple(_default_commands(decision, existing_source))
    for command in commands:
        rewriter.rewrite(command)
    result = (
        rewriter.result
        if len(rewriter.result.wheels) < len(commands)
        else InstallCommands(wheels=rewriter.result.wheels)
    )
    if decision.decision == "blocked" or (decision.decision == "build" and not commands) or _is_outside_pip(decision):
        result.manual.append(f"{decision.decision}: {decision.reason}")
    return result


def _default_commands(
    decision: DependencyDecision, existing_source: GitCheckout | str | None
) -> Iterator[tuple[str, ...]]:
    """The commands of a route that lists none."""
    if decision.requirement and decision.index:
        yield "pip", "install", "--no-deps", "--index-url", decision.index, decision.requirement
    elif decision.decision == "build" and existing_source is not None:
        yield "pip", "install", _NOT_ISOLATED, "--no-deps", f"./{decision.name}"


def _is_outside_pip(decision: DependencyDecision) -> bool:
    """Whether pip cannot install the route, for example a separate container image."""
    return decision.decision == "replace" and not decision.commands and not decision.requirement


@dataclass
class _CommandRewriter:
    decision: DependencyDecision
    folders: InstallableFolders
    existing_source: GitCheckout | str | None
    result: InstallCommands = field(default_factory=InstallCommands)
    clones: dict[str, str] = field(default_factory=dict)

    def rewrite(self, command: Sequence[str]) -> None:
        words = list(command)
        if words[:2] == ["git", "clone"]:
            self._clone(words[2:])
        elif words[:2] in (["pip", "install"], ["pip3", "install"]):
            self._install(words[2:])
        elif words[:1] in (["pip"], ["pip3"]):
            self._add_line("run", '"$PYTHON"', "-m", "pip", *map(shlex.quote, words[1:]))
        elif words[:1] in (["python"], ["python3"]):
            self._add_line("run", '"$PYTHON"', *map(shlex.quote, words[1:]))
        else:
            self._add_line("run", *map(shlex.quote, words))

    def _add_line(self, *words: str) -> None:
        assignments = [f"{name}={shlex.quote(value)}" for name, value in sorted(self.decision.env.items())]
        self.result.lines.append(" ".join([*assignments, *words]))

    def _clone(self, words: list[str]) -> None:
        revision, positional = "", []
        remaining = iter(words)
        for argument in remaining:
            if argument in ("-b", "--branch"):
                revision = next(remaining, "")
            elif argument in ("--depth", "-j", "--jobs"):
                next(remaining, "")
            elif not argument.startswith("-"):
                positional.append(argument)
        source = (
            parse_git_checkout(f"git+{positional[0]}@{revision}" if revision else f"git+{positional[0]}")
            if positional
            else None
        )
        if source is None:
            self.result.manual.append(shlex.join(["git", "clone", *words]))
            return
        self.clones[posixpath.normpath(positional[1] if len(positional) > 1 else source.name)] = self._fetch(source)

    def _fetch(self, source: GitCheckout) -> str:
        self.result.lines.append(fetch_line(source))
        return source.clone_folder

    def _install(self, words: list[str]) -> None:
        options, requirements = _split_arguments(words)
        folders = [(word, self._source_folder_word(word)) for word in requirements]
        sources = [source_path for _, source_path in folders if source_path is not None]
        names = tuple(word for word, source_path in folders if source_path is None)
        missing = [word for word in names if _is_path(word)]
        if missing:
            self.result.manual.append(f"{shlex.join(['pip', 'install', *words])}  # not found: {', '.join(missing)}")
        elif sources:
            for source_path in sources:
                self._add_line("build", source_path, "''", *map(shlex.quote, options))
        elif _NOT_ISOLATED in options:
            self._add_line("pip_install", *map(shlex.quote, (*options, *names)))
        else:
            self._wheels(options, names)

    def _wheels(self, options: tuple[str, ...], names: tuple[str, ...]) -> None:
        self.result.wheels.append(WheelInstall(options, tuple(sorted(self.decision.env.items())), names))
        self._add_line("pip_install", *map(shlex.quote, (*options, *names)))

    def _source_folder_word(self, argument: str) -> str | None:
        """The shell word of a source folder; None for a package name, a URL, or a folder that does not exist."""
        source, path = parse_git_checkout(argument), posixpath.normpath(argument)
        if source is None and not _is_path(argument):
            return None
        for cloned, clone_folder in self.clones.items() if source is None else ():
            if path == cloned or path.startswith(f"{cloned}/"):
                inside = posixpath.relpath(path, cloned)
                return clone_word(clone_folder, "" if inside == "." else inside)
        location = source or self.existing_source or (self.folders.resolve(argument) if path != "." else None)
        if isinstance(location, GitCheckout):
            return clone_word(self._fetch(location), location.folder)
        return None if location is None else folder_word(location)


def fetch_line(source: GitCheckout) -> str:
    return shlex.join(["fetch", source.clone_folder, source.name, source.url, source.revision])


def folder_word(path: str) -> str:
    """The folder of the repository, quoted for install.sh."""
    return '"$root"' if path == "." else f'"$root"/{shlex.quote(path)}'


def clone_word(clone_folder: str, folder: str = "") -> str:
    """The clone in the build folder, or a folder in it, quoted for install.sh."""
    return f'"$build"/{shlex.quote(posixpath.join(clone_folder, folder) if folder else clone_folder)}'


def _is_path(argument: str) -> bool:
    return argument.startswith((".", "/", "~")) or ("/" in argument and "://" not in argument)


def _split_arguments(words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """pip's options with their values, and the requirements. `--extra-index-url` becomes `--index-url`."""
    options: list[str] = []
    requirements: list[str] = []
    remaining = iter(words)
    for argument in remaining:
        name, equals, value = argument.partition("=")
        if name == "--extra-index-url":
            options += ["--index-url", value if equals else next(remaining, "")]
        elif argument in _OPTIONS_WITH_VALUE:
            options += [argument, next(remaining, "")]
        elif argument in ("-e", "--editable"):
            options.append("-e")
        else:
            (options if argument.startswith("-") else requirements).append(argument)
    return tuple(options), requirements
