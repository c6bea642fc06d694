"""Merges the verdicts of several checks of one port, and finds those of another state of the files."""

from __future__ import annotations

from collections.abc import Collection
from typing import get_args

from rocm3d.model.verdict import Level, Verdict, Verdicts

_LEVELS: tuple[Level, ...] = get_args(Level)
STALE = "checked before the last change of the files"


def with_tree(document: Verdicts, tree: str) -> Verdicts:
    """The verdicts with the digest of the files that were checked."""
    return document.model_copy(
        update={"verdicts": tuple(item.model_copy(update={"tree": tree}) for item in document.verdicts)}
    )


def merge_verdicts(stored: Verdicts | None, new: Verdicts, levels: Collection[Level]) -> Verdicts:
    """The stored verdicts, updated by those of these levels.

    Of a level, the new verdicts replace those for the same targets, those without a target, and those of other files.
    A level that was not named, and in which nothing could be checked now, keeps the results that are stored.
    """
    if stored is None:
        return new
    is_named = set(levels) != set(_LEVELS)
    updated = {level for level in levels if is_named or _has_result(new, level) or not _has_result(stored, level)}
    retained = [item for item in stored.verdicts if item.level not in updated or _remains(item, new)]
    added = [item for item in new.verdicts if item.level in updated]
    merged = sorted((*retained, *added), key=lambda item: _LEVELS.index(item.level))
    targets = [*new.targets, *(item.target for item in retained if item.target in stored.targets)]
    if "compile" not in updated:
        targets = [*stored.targets]
    return new.model_copy(update={"targets": tuple(dict.fromkeys(targets)), "verdicts": tuple(merged)})


def _of_level(document: Verdicts, level: Level) -> list[Verdict]:
    return [item for item in document.verdicts if item.level == level]


def _has_result(document: Verdicts, level: Level) -> bool:
    return any(item.outcome != "not_run" for item in _of_level(document, level))


def _remains(stored: Verdict, new: Verdicts) -> bool:
    """Whether a stored verdict of an updated level is about another target and the same files."""
    verdicts = _of_level(new, stored.level)
    targets = {*new.targets, *(item.target for item in verdicts)}
    return bool(stored.target) and stored.target not in targets and {stored.tree} == {item.tree for item in verdicts}


def as_of(document: Verdicts, tree: str) -> Verdicts:
    """The verdicts for these files: one of other files is not_run."""
    return document.model_copy(
        update={"verdicts": tuple(item if item.tree == tree else _stale(item) for item in document.verdicts)}
    )


def _stale(verdict: Verdict) -> Verdict:
    reason = verdict.reason if verdict.outcome == "not_run" else STALE
    return verdict.model_copy(update={"outcome": "not_run", "reason": reason, "looked_at": (), "tasks": ()})
