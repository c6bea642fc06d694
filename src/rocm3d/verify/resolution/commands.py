"""Parses the install commands of a plan: requirements, index and flags of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.manifest.install_line import ShellWord, parse_install_command, distribution_name
from rocm3d.verify.resolution.build_source import GitSource

if TYPE_CHECKING:
    from rocm3d.manifest.manifest import Mention
    from rocm3d.model.plan import DependencyDecision, Plan


@dataclass(frozen=True)
class Install:
    """One install command of a decision."""

    decision: DependencyDecision
    command: str
    mentions: tuple[Mention, ...]
    index: str
    flags: frozenset[str]


def installs(plan: Plan) -> Iterator[Install]:
    """All install commands of the plan. A decision with a requirement and no command counts as `pip install`."""
    for decision in plan.decisions:
        found = [_install(decision, words) for words in decision.commands]
        given = [item for item in found if item is not None]
        if not given and not decision.commands and decision.requirement:
            index = ("--index-url", decision.index) if decision.index else ()
            item = _install(decision, ("pip", "install", *index, decision.requirement))
            given = [item] if item is not None else []
        yield from given


def _install(decision: DependencyDecision, command: tuple[str, ...]) -> Install | None:
    found = parse_install_command([ShellWord(word) for word in command])
    if found is None or not found.mentions:
        return None
    urls = [url for option in found.options for url in option.urls]
    return Install(decision, " ".join(command), found.mentions, (urls or [decision.index])[0], found.flags)


def clones(decision: DependencyDecision) -> dict[str, GitSource]:
    """Repositories that the decision's commands clone, by target folder."""
    found = {}
    for command in decision.commands:
        if command[:2] != ("git", "clone"):
            continue
        at = next((i for i, word in enumerate(command) if "://" in word), None)
        if at is not None:
            branch = next((command[i + 1] for i in range(2, at - 1) if command[i] in ("-b", "--branch")), "HEAD")
            found[(command[at + 1 :] or (distribution_name(command[at]),))[0]] = GitSource(command[at], branch)
    return found
