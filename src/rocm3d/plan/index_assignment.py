"""Packages of an index that is not known to be public: each keeps one index as its only one, or is left for a person.

Never is such a name asked of PyPI, where a stranger can publish it (docs/decisions/0025-locks.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rocm3d.model.inventory import Dependency, OtherIndex
from rocm3d.model.plan import DependencyDecision
from rocm3d.model.stack import Stack
from rocm3d.model.wheel import WheelRecord
from rocm3d.plan.bounds import RepositoryBounds

INDEX_RULE = "other_index"


def assign_indexes(
    decisions: Sequence[DependencyDecision], indexes: Sequence[OtherIndex], dependencies: Iterable[Dependency]
) -> tuple[DependencyDecision, ...]:
    """The decisions, with an index or a task for each package that another index may serve."""
    by_name: dict[str, list[OtherIndex]] = {}
    for index in indexes:
        for name in index.names:
            by_name.setdefault(name, []).append(index)
    if not by_name:
        return tuple(decisions)
    entries: dict[str, list[str]] = {}
    for dependency in dependencies:
        entries.setdefault(str(canonicalize_name(dependency.name)), []).append(dependency.requirement)
    return tuple(
        _assigned(item, by_name[item.name], entries.get(item.name, []))
        if item.name in by_name and item.package is None
        else item
        for item in decisions
    )


def with_wheel_indexes(
    decisions: Iterable[DependencyDecision], bounds: RepositoryBounds, stack: Stack, wheels: Mapping[str, WheelRecord]
) -> tuple[DependencyDecision, ...]:
    """The decisions, with the index of each release that PyPI does not have."""
    return tuple(_from_wheel_index(item, bounds, stack, wheels) for item in decisions)


def _from_wheel_index(
    decision: DependencyDecision, bounds: RepositoryBounds, stack: Stack, wheels: Mapping[str, WheelRecord]
) -> DependencyDecision:
    if decision.package is not None or decision.is_of_other_index:
        return decision
    wheel_range = bounds.elsewhere(decision.name, stack.python, wheels)
    entries = bounds.entries.get(decision.name, ())
    if wheel_range is None or not entries:
        return decision
    record = wheels[decision.name]
    requirement, _ = _requirement(decision.name, [entry.text for entry in entries if entry.applies(stack.python)])
    return decision.model_copy(
        update={
            "requirement": requirement,
            "index": wheel_range.index,
            "reason": f"PyPI has no {requirement}: from {wheel_range.index} alone",
            "sources": record.sources,
            "checked": record.checked,
            "confidence": record.confidence,
        }
    )


def index_tasks(decisions: Iterable[DependencyDecision], indexes: Iterable[OtherIndex]) -> dict[tuple[str, int], str]:
    """By path and line of an index: what a person has to install from there."""
    tasks = {item.name: item.task for item in decisions if item.task}
    texts_by_position: dict[tuple[str, int], dict[str, None]] = {}
    for index in indexes:
        for name in index.names:
            if name in tasks:
                texts_by_position.setdefault((index.location.path, index.location.line), {})[
                    f"install {name}: {tasks[name]}"
                ] = None
    return {position: "; ".join(texts) for position, texts in texts_by_position.items()}


def _assigned(
    decision: DependencyDecision, indexes: Sequence[OtherIndex], entries: Sequence[str]
) -> DependencyDecision:
    urls = sorted({index.url for index in indexes})
    where = ", ".join(dict.fromkeys(f"{index.location.path}:{index.location.line}" for index in indexes))
    requirement, conflict = _requirement(decision.name, entries)
    problem = next((index.problem for index in indexes if index.problem), "")
    problem = problem or ("several indexes may serve it" if len(urls) > 1 else conflict)
    if problem:
        task = f"from {' or '.join(urls)} ({where}): {problem}"
        return decision.model_copy(update={"task": task, "reason": f"left for a person, {task}"})
    update = {"requirement": requirement, "reason": f"from {urls[0]} alone ({where}), which may be its only index"}
    if indexes[0].links:
        command = ("pip", "install", "--no-deps", "--no-index", "--find-links", urls[0], requirement)
        return decision.model_copy(update={**update, "commands": (command,)})
    return decision.model_copy(update={**update, "index": urls[0]})


def _requirement(name: str, entries: Sequence[str]) -> tuple[str, str]:
    """All entries of a name as one requirement, and why they cannot be one."""
    merged = Requirement(name)
    for text in entries:
        try:
            entry = Requirement(text)
        except InvalidRequirement:
            continue
        if entry.url or entry.marker:
            return str(merged), "its entry has a URL or a condition"
        merged.extras |= entry.extras
        merged.specifier &= entry.specifier
    return str(merged), ""
