"""The steps of install.sh in order: one `pip install` for each index, then the builds.

Clones that a route's commands make go to the build folder, and pip runs in shell functions.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rocm3d.apply.installable_folders import InstallableFolders
from rocm3d.apply.repository_requirements import RepositoryRequirements, SourceRequirement, repository_requirements
from rocm3d.apply.requirement_source import GitCheckout, SourceLocation, parse_git_checkout
from rocm3d.apply.target_needs import decisions_for_target
from rocm3d.apply.template import one_line
from rocm3d.model.plan import DependencyDecision, Plan
from rocm3d.workspace.tree import Tree

EXTRA_REQUIREMENTS = "requirements-rocm3d.txt"
_OPTIONS_WITH_VALUE = frozenset(
    {"--index-url", "-i", "--find-links", "-f", "-c", "-r", "--no-binary", "--only-binary", "-C"}
)
_NOT_ISOLATED = "--no-build-isolation"


@dataclass(frozen=True)
class Step:
    """A part of the install. install.sh checks after each step that torch is unchanged, and names the step if not."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class InstallSteps:
    """All steps, and what the user must install by hand."""

    steps: tuple[Step, ...]
    manual: tuple[str, ...]


def install_steps(plan: Plan, tree: Tree) -> InstallSteps:
    """Requirements first, since builds need them; the repository itself last, since it needs everything."""
    requirements, folders = repository_requirements(plan, tree), InstallableFolders(tree)
    commands_by_name = {
        item.name: install_commands(item, folders, requirements.package_locations.get(item.name))
        for item in decisions_for_target(plan)
        if not item.is_of_other_index or item.task or item.name in requirements.of_other_indexes
    }
    builds = [*_build_steps(commands_by_name), *_source_steps(requirements)]
    steps = [
        *_submodule_steps(folders),
        *(_BUILD_TOOLS if builds else ()),
        *_requirement_steps(requirements, tree),
        *_wheel_steps(commands_by_name),
    ]
    manual = [f"{name}: {text}" for name, item in commands_by_name.items() for text in item.manual]
    return InstallSteps((*steps, *builds), tuple(one_line(text) for text in (*requirements.not_installed, *manual)))


def entry_files(requirements: RepositoryRequirements, tree: Tree) -> tuple[str, ...]:
    """Names, in the port folder, of the requirements files that the install starts with."""
    if "requirements.txt" not in tree:
        return ("requirements.txt",) if requirements.files or requirements.by_name else ()
    return ("requirements.txt", EXTRA_REQUIREMENTS) if requirements.by_name else ("requirements.txt",)


# What the setup.py of an extension needs when it is built without isolation.
_BUILD_TOOLS = (Step("build tools", ("tools setuptools wheel ninja packaging",)),)


def _submodule_steps(folders: InstallableFolders) -> list[Step]:
    paths = [submodule.path for submodule in folders.submodules]
    return [Step("submodules", (f"submodules {shlex.join(paths)}",))] if paths else []


def _requirement_steps(requirements: RepositoryRequirements, tree: Tree) -> list[Step]:
    files = " ".join(f'-r "$port"/{shlex.quote(name)}' for name in entry_files(requirements, tree))
    return [Step("requirements of the repository", (f"pip_install {files}",))] if files else []


def _wheel_steps(commands_by_name: dict[str, InstallCommands]) -> list[Step]:
    """One step for each set of options and environment, in the order of first use."""
    groups: dict[tuple[object, ...], list[WheelInstall]] = {}
    for commands in commands_by_name.values():
        for wheels in commands.wheels if not commands.lines else ():
            groups.setdefault((wheels.options, wheels.env), []).append(wheels)
    return [_wheel_step(group) for group in groups.values()]


def _wheel_step(group: list[WheelInstall]) -> Step:
    names = list(dict.fromkeys(name for wheels in group for name in wheels.names))
    options = group[0].options
    option = next((name for name in ("--index-url", "--find-links") if name in options), "")
    index = options[options.index(option) + 1] if option else "the default index"
    env = [f"{name}={shlex.quote(value)}" for name, value in group[0].env]
    line = " ".join([*env, "pip_install", shlex.join([*options, *names])])
    return Step(one_line(f"{', '.join(names)} from {index}"), (line,))


def _build_steps(commands_by_name: dict[str, InstallCommands]) -> list[Step]:
    """Two packages that one repository provides are built once."""
    names_by_lines: dict[tuple[str, ...], list[str]] = {}
    for name, commands in commands_by_name.items():
        if commands.lines:
            names_by_lines.setdefault(tuple(commands.lines), []).append(name)
    return [Step(f"{', '.join(names)}, built", lines) for lines, names in names_by_lines.items()]


def _source_steps(requirements: RepositoryRequirements) -> list[Step]:
    clones = [item for item in requirements.sources.values() if isinstance(item.location, GitCheckout)]
    folders = [item for item in requirements.sources.values() if isinstance(item.location, str)]
    folders.sort(key=lambda item: item.location == ".")
    return [*map(_clone_step, clones), *map(_folder_step, folders)]


def _clone_step(source: SourceRequirement) -> Step:
    assert isinstance(source.location, GitCheckout)
    folder = clone_word(source.location.clone_folder, source.location.folder)
    revision = f" at {source.location.revision}" if source.location.revision else ""
    lines = (
        fetch_line(source.location),
        " ".join(["build", folder, _extras(source), *(["-e"] if source.editable else [])]),
    )
    return Step(one_line(f"{source.location.name}{revision}"), lines)


def _folder_step(source: SourceRequirement) -> Step:
    """Built with --no-deps: its requirements are already installed, and what it declares may include torch."""
    assert isinstance(source.location, str)
    words = ["build", folder_word(source.location), _extras(source), "--no-deps", *(["-e"] if source.editable else [])]
    title = "the repository itself" if source.location == "." else source.location
    return Step(one_line(title), (" ".join(words),))


def _extras(source: SourceRequirement) -> str:
    return shlex.quote(f"[{','.join(sorted(source.extras))}]" if source.extras else "")


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
    decision: DependencyDecision, folders: InstallableFolders, existing_source: SourceLocation | None
) -> InstallCommands:
    """The commands of a decision. `existing_source` is the package's code that the repository contains or clones."""
    if decision.task:
        return InstallCommands(manual=[decision.task])
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
    decision: DependencyDecision, existing_source: SourceLocation | None
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
    existing_source: SourceLocation | None
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
