"""Releases with known hashes for the packages that routes take from PyPI."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from rocm3d.model.lock import Distribution, LockedPackage
from rocm3d.model.plan import DependencyDecision

BUILD_TOOLS = ("setuptools", "wheel", "ninja", "packaging")
"""What the setup.py of an extension needs when it is built without isolation."""
_OTHER_INDEX = frozenset({"--index-url", "-i", "--find-links", "-f", "--extra-index-url", "--no-index"})


def with_releases(decision: DependencyDecision, distributions: Collection[Distribution]) -> DependencyDecision:
    """The decision with the releases that its commands install from the default index."""
    if decision.is_of_other_index or decision.index:
        return decision
    commands = decision.commands or ((("pip", "install", decision.requirement),) if decision.requirement else ())
    names = [
        word
        for command in commands
        if command[:2] == ("pip", "install") and not _OTHER_INDEX & set(command)
        for word in command[2:]
        if not word.startswith(("-", "."))
    ]
    locked = releases(names, distributions)
    return decision.model_copy(update={"locked": locked}) if locked else decision


def releases(requirements: Iterable[str], distributions: Collection[Distribution]) -> tuple[LockedPackage, ...]:
    """The newest recorded release for each requirement that has one."""
    chosen: dict[str, LockedPackage] = {}
    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        name = canonicalize_name(requirement.name)
        matching = [
            item
            for item in distributions
            if item.name == name and requirement.specifier.contains(item.version, prereleases=True)
        ]
        if matching and not requirement.url:
            newest = max(matching, key=lambda item: Version(item.version))
            values = {key: getattr(newest, key) for key in LockedPackage.model_fields}
            chosen.setdefault(str(name), LockedPackage(**values))
    return tuple(chosen.values())
