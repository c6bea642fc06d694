"""Parses the install commands of a plan: requirements, index and flags of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.manifest.install_line import ShellWord, distribution_name, parse_install_command
from rocm3d.verify.resolution.build_source import GitSource

if TYPE_CHECKING:
    from rocm3d.manifest.manifest import Mention
    from rocm3d.model.plan import DependencyDecision, Plan


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
        parsed = [_parse_command(decision, words) for words in decision.commands]
        commands = [item for item in parsed if item is not None]
        if not commands and not decision.commands and decision.requirement:
            index = ("--index-url", decision.index) if decision.index else ()
            item = _parse_command(decision, ("pip", "install", *index, decision.requirement))
            commands = [item] if item is not None else []
        yield from commands


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
