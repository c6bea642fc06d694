"""Verify itself: run the probes of the levels asked for; a level nobody can check here is not_run with the reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from rocm3d import __version__
from rocm3d.model.verdict import Level, Verdict, Verdicts
from rocm3d.verify.probe import Case, probes

LEVELS: tuple[Level, ...] = get_args(Level)


def verify(case: Case, levels: Iterable[Level] = LEVELS) -> Verdicts:
    """Every verdict of the levels, in their order."""
    asked = set(levels)
    found = [verdict for level in LEVELS if level in asked for verdict in _of_level(level, case)]
    return Verdicts(repository=case.patch.repository, targets=case.targets, verdicts=tuple(found))


def _of_level(level: Level, case: Case) -> list[Verdict]:
    reason = _cannot(level, case)
    if reason is not None:
        return [Verdict(level=level, probe="any", outcome="not_run", reason=reason)]
    return [probe.attempt(case) for probe in probes() if probe.level == level]


def _cannot(level: Level, case: Case) -> str | None:
    if not any(probe.level == level for probe in probes()):
        return f"rocm3d {__version__} has no {level} probe"
    return "the patch is a dry run" if case.patch.dry_run else None
