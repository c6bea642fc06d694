"""The install commands of a plan, and the source builds of a port: where their sources are."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from packaging.utils import canonicalize_name

from rocm3d.manifest.install_line import ShellWord, distribution_name, parse_install_command
from rocm3d.model.errors import MachineError
from rocm3d.verify.resolution.build_source import (
    BuildFiles,
    GitSource,
    build_files_from_archive,
    build_files_from_git,
    build_files_in_tree,
    git_source,
)
from rocm3d.verify.resolution.sets import PreparedSet, RequirementLine

if TYPE_CHECKING:
    from rocm3d.manifest.manifest import Mention
    from rocm3d.model.plan import DependencyDecision, Plan
    from rocm3d.verify.resolution.session import ResolverSession
    from rocm3d.workspace.tree import Tree

NO_BUILD_ISOLATION = "--no-build-isolation"
_NO_BINARY = "--no-binary"


@dataclass(frozen=True)
class InstallCommand:
    """One install command of a decision."""

    decision: DependencyDecision
    command: str
    mentions: tuple[Mention, ...]
    index: str
    flags: frozenset[str]


def install_commands(plan: Plan) -> Iterator[InstallCommand]:
    """All install commands of the plan. A decision with a requirement and no command counts as `pip install`."""
    for decision in plan.decisions:
        index = ("--index-url", decision.index) if decision.index else ()
        plain = [("pip", "install", *index, decision.requirement)] if decision.requirement else []
        commands = (_parse_command(decision, words) for words in decision.commands or plain)
        yield from (command for command in commands if command is not None)


def _parse_command(decision: DependencyDecision, command: tuple[str, ...]) -> InstallCommand | None:
    parsed = parse_install_command([ShellWord(word) for word in command])
    if parsed is None or not parsed.mentions:
        return None
    urls = [url for option in parsed.options for url in option.urls]
    return InstallCommand(decision, " ".join(command), parsed.mentions, (urls or [decision.index])[0], parsed.flags)


def clones(decision: DependencyDecision) -> dict[str, GitSource]:
    """Repositories that the decision's commands clone, by target folder."""
    sources = {}
    for command in decision.commands:
        if command[:2] != ("git", "clone"):
            continue
        url_index = next((i for i, word in enumerate(command) if "://" in word), None)
        if url_index is not None:
            branch = next((command[i + 1] for i in range(2, url_index - 1) if command[i] in ("-b", "--branch")), "HEAD")
            sources[(command[url_index + 1 :] or (distribution_name(command[url_index]),))[0]] = GitSource(
                command[url_index], branch
            )
    return sources


@dataclass(frozen=True)
class SourceBuild:
    """One build: its files, or the reason that they are missing. `open`: built without isolation.

    `wheel` is the file that pip would install instead of building; `how` is the command, for messages.
    """

    name: str
    files: BuildFiles = field(default_factory=BuildFiles)
    unavailable_reason: str = ""
    wheel: str = ""
    open: bool = False
    how: str = ""


def builds_of_command(command: InstallCommand, tree: Tree, session: ResolverSession) -> list[SourceBuild]:
    """The builds of one install command of the plan."""
    is_open = NO_BUILD_ISOLATION in command.flags
    return [
        replace(_build_of_mention(mention, command, tree, session), open=is_open, how=f"`{command.command}`")
        for mention in command.mentions
    ]


def build_of_distribution(name: str, text: str, session: ResolverSession) -> SourceBuild:
    """The build of a distribution that the index may have only as source."""
    set_resolution = session.resolve_on_stack(PreparedSet(name, (RequirementLine(name, text),)), no_dependencies=True)
    package = next((item for item in set_resolution.resolution.packages if item.name == name), None)
    if package is None:
        problem = set_resolution.resolution.problem
        return SourceBuild(name, unavailable_reason=problem.text if problem else "not found in the index")
    if not package.is_source:
        return SourceBuild(name, wheel=posixpath.basename(unquote(package.url)))
    return _build_from_files(name, lambda: build_files_from_archive(package.url, session.web))


def _build_of_mention(mention: Mention, command: InstallCommand, tree: Tree, session: ResolverSession) -> SourceBuild:
    name, url = str(canonicalize_name(mention.name or command.decision.name)), mention.url
    if not url:
        build = build_of_distribution(name, mention.text, session)
        return replace(build, wheel="" if _NO_BINARY in command.command else build.wheel)
    source = git_source(url)
    if source is None and "://" in url:
        return _build_from_files(name, lambda: build_files_from_archive(url, session.web))
    folder = posixpath.normpath(url)
    if source is None:
        for cloned, origin in clones(command.decision).items():
            if folder == cloned or folder.startswith(f"{cloned}/"):
                source = replace(origin, subdirectory=folder.removeprefix(cloned).lstrip("/"))
    if source is not None:
        return _build_from_git(name, source, session)
    files = build_files_in_tree(tree, folder)
    return SourceBuild(
        name, files, "" if files else f"{folder} is not in the tree: a submodule that is not checked out?"
    )


def build_of_git_line(line: RequirementLine, session: ResolverSession) -> SourceBuild | None:
    """The build of a requirement with a git URL; None for other requirements."""
    source = git_source(line.url)
    return None if source is None else _build_from_git(line.name, source, session)


def _build_from_git(name: str, source: GitSource, session: ResolverSession) -> SourceBuild:
    clone_folder = session.folder / f"git{next(session.numbers)}"
    return _build_from_files(name, lambda: build_files_from_git(source, session.web, clone_folder))


def _build_from_files(name: str, read: Callable[[], BuildFiles]) -> SourceBuild:
    try:
        files = read()
    except MachineError as error:
        return SourceBuild(name, unavailable_reason=error.message)
    return SourceBuild(name, files, "" if files else "its source has neither pyproject.toml nor setup.py")
