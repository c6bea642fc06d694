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
    requested_levels = set(levels)
    verdicts = [verdict for level in LEVELS if level in requested_levels for verdict in _level_verdicts(level, case)]
    return Verdicts(repository=case.patch.repository, targets=case.targets, verdicts=tuple(verdicts))


def _level_verdicts(level: Level, case: Case) -> list[Verdict]:
    reason = _not_run_reason(level, case)
    if reason is not None:
        return [Verdict(level=level, probe="any", outcome="not_run", reason=reason)]
    return [verdict for probe in probes() if probe.level == level for verdict in probe.attempt(case)]


def _not_run_reason(level: Level, case: Case) -> str | None:
    level_probes = [probe for probe in probes() if probe.level == level]
    if not level_probes:
        return f"rocm3d {__version__} has no {level} probe"
    if case.patch.dry_run:
        return "the patch is a dry run"
    return case.network.disabled_reason or None if all(probe.needs_network for probe in level_probes) else None
