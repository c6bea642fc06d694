"""The verify stage: runs the probes of the requested levels. A level that cannot be checked is not_run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from rocm3d import __version__
from rocm3d.model.verdict import Level, Verdict, Verdicts
from rocm3d.verify.probe import Case, probes

LEVELS: tuple[Level, ...] = get_args(Level)


def verify(case: Case, levels: Iterable[Level] = LEVELS) -> Verdicts:
    """All verdicts, in the order of LEVELS."""
    asked = set(levels)
    found = [verdict for level in LEVELS if level in asked for verdict in _of_level(level, case)]
    return Verdicts(repository=case.patch.repository, targets=case.targets, verdicts=tuple(found))


def _of_level(level: Level, case: Case) -> list[Verdict]:
    reason = _cannot(level, case)
    if reason is not None:
        return [Verdict(level=level, probe="any", outcome="not_run", reason=reason)]
    found: list[Verdict] = []
    for probe in probes():
        if probe.level == level:
            given = probe.attempt(case)
            found += [given] if isinstance(given, Verdict) else given
    return found


def _cannot(level: Level, case: Case) -> str | None:
    of_level = [probe for probe in probes() if probe.level == level]
    if not of_level:
        return f"rocm3d {__version__} has no {level} probe"
    if case.patch.dry_run:
        return "the patch is a dry run"
    return case.network.refused or None if all(probe.asks_servers for probe in of_level) else None
