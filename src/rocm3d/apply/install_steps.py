"""The steps of install.sh in order: one `pip install` for each index, then the builds."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from rocm3d.apply.installable_folders import InstallableFolders
from rocm3d.apply.repository_requirements import RepositoryRequirements, SourceRequirement, repository_requirements
from rocm3d.apply.requirement_source import GitCheckout
from rocm3d.apply.route_commands import (
    InstallCommands,
    WheelInstall,
    clone_word,
    fetch_line,
    folder_word,
    install_commands,
)
from rocm3d.apply.template import one_line
from rocm3d.apply.variables import decisions_for_target
from rocm3d.model.plan import Plan
from rocm3d.workspace.tree import Tree

EXTRA_REQUIREMENTS = "requirements-rocm3d.txt"


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
    index = options[options.index("--index-url") + 1] if "--index-url" in options else "the default index"
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
