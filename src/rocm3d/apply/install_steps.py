"""The steps of install.sh in order: one `pip install` for each index, then the builds.

Clones that a route's commands make go to the build folder, and pip runs in shell functions.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rocm3d.apply.installable_folders import InstallableFolders
from rocm3d.apply.repository_requirements import RepositoryRequirements, SourceRequirement, repository_requirements
from rocm3d.apply.requirement_source import SourceLocation
from rocm3d.apply.target_needs import decisions_for_target
from rocm3d.apply.template import one_line
from rocm3d.manifest.git_checkout import GitCheckout, parse_git_checkout
from rocm3d.model.lock import LockedCheckout, LockedPackage, UnlockedArtifact
from rocm3d.model.plan import DependencyDecision, Plan, ResolvedRequirements
from rocm3d.workspace.tree import Tree

EXTRA_REQUIREMENTS = "requirements-rocm3d.txt"
LOCKED_REQUIREMENTS = "requirements-locked.txt"
_TOOLS = ("setuptools", "wheel", "ninja", "packaging")
_OPTIONS_WITH_VALUE = frozenset(
    {"--index-url", "-i", "--find-links", "-f", "-c", "-r", "--no-binary", "--only-binary", "-C"}
)
_NOT_ISOLATED = "--no-build-isolation"


@dataclass(frozen=True)
class Step:
    """A part of the install. install.sh checks after each step that torch is unchanged, and names the step if not."""

    title: str
    lines: tuple[str, ...]
    unlocked: tuple[UnlockedArtifact, ...] = ()


@dataclass(frozen=True)
class InstallSteps:
    """All steps, what the user must install by hand, and what the steps install from the lock."""

    steps: tuple[Step, ...]
    manual: tuple[str, ...]
    packages: tuple[LockedPackage, ...] = ()
    checkouts: tuple[LockedCheckout, ...] = ()


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
        *(_tool_steps(plan) if builds else ()),
        *_requirement_steps(requirements, tree, plan.resolved),
        *_wheel_steps(commands_by_name),
    ]
    manual = [f"{name}: {text}" for name, item in commands_by_name.items() for text in item.manual]
    packages = [
        *(plan.tools if builds else ()),
        *(locked for item in commands_by_name.values() for locked in item.packages),
    ]
    checkouts = [locked for item in commands_by_name.values() for locked in item.checkouts]
    checkouts += [
        LockedCheckout(name=source.name, url=source.url, commit=source.revision)
        for source in requirements.sources
        if isinstance(source, GitCheckout) and source.has_commit
    ]
    return InstallSteps(
        (*steps, *builds),
        tuple(one_line(text) for text in (*requirements.not_installed, *manual)),
        tuple(dict.fromkeys(packages)),
        tuple(dict.fromkeys(checkouts)),
    )


def entry_files(requirements: RepositoryRequirements, tree: Tree) -> tuple[str, ...]:
    """Names, in the port folder, of the requirements files that the install starts with."""
    if "requirements.txt" not in tree:
        return ("requirements.txt",) if requirements.files or requirements.by_name else ()
    return ("requirements.txt", EXTRA_REQUIREMENTS) if requirements.by_name else ("requirements.txt",)


def _tool_steps(plan: Plan) -> list[Step]:
    """What the setup.py of an extension needs when it is built without isolation."""
    known = {package.name for package in plan.tools}
    unlocked = (unlocked_package(name, "no release is recorded") for name in _TOOLS if name not in known)
    return [Step("build tools", (f"tools {' '.join(_TOOLS)}",), tuple(unlocked))]


def _submodule_steps(folders: InstallableFolders) -> list[Step]:
    paths = [submodule.path for submodule in folders.submodules]
    return [Step("submodules", (f"submodules {shlex.join(paths)}",))] if paths else []


def _requirement_steps(
    requirements: RepositoryRequirements, tree: Tree, resolved: ResolvedRequirements | None
) -> list[Step]:
    """From the lock if the plan has resolved them; the rest, and without a lock all, as pip resolves them that day."""
    files = " ".join(f'-r "$port"/{shlex.quote(name)}' for name in entry_files(requirements, tree))
    if not files:
        return []
    if resolved is None:
        named = {**requirements.unhashed, **{name: where for name, (_, where) in requirements.by_name.items()}}
        reason = "a name without a hash; `rocm3d plan --lock` resolves it"
        unlocked = tuple(unlocked_package(name, f"{where}: {reason}") for name, where in sorted(named.items()))
        return [Step("requirements of the repository", (f"pip_install {files}",), unlocked)]
    options = "--require-hashes --no-deps --only-binary=:all:"
    steps = [
        Step("locked requirements of the repository", (f'pip_install {options} -r "$port"/{LOCKED_REQUIREMENTS}',))
    ]
    if resolved.unlocked:
        steps.append(Step("requirements of the repository", (f"pip_install {files}",), resolved.unlocked))
    return steps if resolved.packages else steps[1:]


def unlocked_package(name: str, reason: str) -> UnlockedArtifact:
    return UnlockedArtifact(kind="package", name=name, reason=one_line(reason))


def _wheel_steps(commands_by_name: dict[str, InstallCommands]) -> list[Step]:
    """One step for each set of options and environment, in the order of first use."""
    groups: dict[tuple[object, ...], list[WheelInstall]] = {}
    for commands in commands_by_name.values():
        for wheels in commands.wheels if not commands.lines else ():
            groups.setdefault((wheels.options, wheels.env, wheels.locked), []).append(wheels)
    return [_wheel_step(group) for group in groups.values()]


def _wheel_step(group: list[WheelInstall]) -> Step:
    names = list(dict.fromkeys(name for wheels in group for name in wheels.names))
    options = group[0].options
    option = next((name for name in ("--index-url", "--find-links") if name in options), "")
    index = options[options.index(option) + 1] if option else "the default index"
    env = [f"{name}={shlex.quote(value)}" for name, value in group[0].env]
    line = " ".join([*env, "pip_locked" if group[0].locked else "pip_install", shlex.join([*options, *names])])
    unlocked = dict.fromkeys(artifact for wheels in group for artifact in wheels.unlocked)
    return Step(one_line(f"{', '.join(names)} from {index}"), (line,), tuple(unlocked))


def _build_steps(commands_by_name: dict[str, InstallCommands]) -> list[Step]:
    """Two packages that one repository provides are built once."""
    names_by_lines: dict[tuple[str, ...], list[str]] = {}
    for name, commands in commands_by_name.items():
        if commands.lines:
            names_by_lines.setdefault(tuple(commands.lines), []).append(name)
    return [
        Step(
            f"{', '.join(names)}, built",
            lines,
            tuple(dict.fromkeys(artifact for name in names for artifact in commands_by_name[name].unlocked)),
        )
        for lines, names in names_by_lines.items()
    ]


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
    return Step(one_line(f"{source.location.name}{revision}"), lines, tuple(_unlocked_checkouts(source.location)))


def _unlocked_checkouts(source: GitCheckout, reason: str = "") -> Iterator[UnlockedArtifact]:
    if not source.has_commit:
        why = reason or (f"{source.revision} is no commit" if source.revision else "it names no commit")
        yield UnlockedArtifact(kind="checkout", name=one_line(source.url), reason=one_line(why))


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
    locked: bool = False
    unlocked: tuple[UnlockedArtifact, ...] = field(default=(), compare=False)


@dataclass
class InstallCommands:
    """`wheels` alone if nothing is built, else `lines` in order; `manual` lists what the user must do by hand."""

    wheels: list[WheelInstall] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    manual: list[str] = field(default_factory=list)
    packages: list[LockedPackage] = field(default_factory=list, compare=False)
    checkouts: list[LockedCheckout] = field(default_factory=list, compare=False)
    unlocked: list[UnlockedArtifact] = field(default_factory=list, compare=False)


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
    result = rewriter.result
    if rewriter.has_only_wheels:
        result = InstallCommands(wheels=result.wheels, packages=result.packages)
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
    has_only_wheels: bool = True

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

    @property
    def _assignments(self) -> list[str]:
        return [f"{name}={shlex.quote(value)}" for name, value in sorted(self.decision.env.items())]

    def _add_line(self, *words: str) -> None:
        self.has_only_wheels = False
        self.result.lines.append(" ".join([*self._assignments, *words]))

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
            self.has_only_wheels = False
            return
        pinned = self._pinned(source)
        self.clones[posixpath.normpath(positional[1] if len(positional) > 1 else source.name)] = self._fetch(pinned)

    def _pinned(self, source: GitCheckout) -> GitCheckout:
        """A repository of the route at the route's commit."""
        pin = self.decision.pin
        return source if pin is None or source.has_commit else replace(source, revision=pin.commit)

    def _fetch(self, source: GitCheckout) -> str:
        self.result.lines.append(fetch_line(source))
        self.result.unlocked += _unlocked_checkouts(source, self.decision.unpinned)
        if source.has_commit:
            pin = self.decision.pin
            of = pin.of if pin is not None and pin.commit == source.revision else ""
            self.result.checkouts.append(
                LockedCheckout(name=source.name, url=source.url, commit=source.revision, of=of)
            )
        return source.clone_folder

    def _install(self, words: list[str]) -> None:
        options, requirements = _split_arguments(words)
        folders = [(word, self._source_folder_word(word)) for word in requirements]
        sources = [source_path for _, source_path in folders if source_path is not None]
        names = tuple(word for word, source_path in folders if source_path is None)
        missing = [word for word in names if _is_path(word)]
        if missing:
            self.has_only_wheels = False
            self.result.manual.append(f"{shlex.join(['pip', 'install', *words])}  # not found: {', '.join(missing)}")
        elif sources:
            for source_path in sources:
                self._add_line("build", source_path, "''", *map(shlex.quote, options))
        else:
            self._packages(options, names)

    def _packages(self, options: tuple[str, ...], names: tuple[str, ...]) -> None:
        """Those with a recorded release by its hashes, the others by name."""
        releases = {package.name: package for package in self.decision.locked if "--no-deps" in options}
        locked = {name: releases[key] for name in names if (key := _canonical_name(name)) in releases}
        self.result.packages += locked.values()
        is_built = _NOT_ISOLATED in options
        for package in locked.values():
            # An isolated build would fetch its requirements without hashes.
            binary = () if is_built else ("--only-binary=:all:",)
            unlocked = () if is_built or package.has_wheel else (_build_requirements(package.name),)
            self._add_install((*options, *(binary if not unlocked else ())), (package.name,), unlocked, locked=True)
        others = tuple(name for name in names if name not in locked)
        if others:
            reason = (
                "its index was not read"
                if self.decision.index or "--index-url" in options
                else "no release is recorded"
            )
            self._add_install(options, others, tuple(unlocked_package(one_line(name), reason) for name in others))

    def _add_install(
        self,
        options: tuple[str, ...],
        names: tuple[str, ...],
        unlocked: tuple[UnlockedArtifact, ...],
        *,
        locked: bool = False,
    ) -> None:
        self.result.unlocked += unlocked
        if _NOT_ISOLATED in options:
            self.has_only_wheels = False
        else:
            env = tuple(sorted(self.decision.env.items()))
            self.result.wheels.append(WheelInstall(options, env, names, locked, unlocked))
        self.result.lines.append(
            " ".join(
                [
                    *self._assignments,
                    "pip_locked" if locked else "pip_install",
                    *map(shlex.quote, (*options, *names)),
                ]
            )
        )

    def _source_folder_word(self, argument: str) -> str | None:
        """The shell word of a source folder; None for a package name, a URL, or a folder that does not exist."""
        source, path = parse_git_checkout(argument), posixpath.normpath(argument)
        source = None if source is None else self._pinned(source)
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


def _canonical_name(text: str) -> str:
    try:
        return str(canonicalize_name(Requirement(text).name))
    except InvalidRequirement:
        return ""


def _build_requirements(name: str) -> UnlockedArtifact:
    reason = "it has no wheel, and its build fetches what its code names"
    return UnlockedArtifact(kind="build requirements", name=name, reason=reason)


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
