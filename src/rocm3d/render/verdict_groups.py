"""Verdicts for readers: those of one unit with the same result are one entry, which names their targets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.model.verdict import Level, Outcome, Verdict

_MAX_COVERED = 4


@dataclass(frozen=True)
class VerdictGroup:
    """Verdicts of one probe about one subject, which have the same outcome and the same reason."""

    level: Level
    probe: str
    outcome: Outcome
    scope: str
    reason: str
    checks: tuple[str, ...]

    @property
    def covered(self) -> str:
        """What was checked: everything."""
        return self._in_scope(", ".join(self.checks))

    @property
    def detail(self) -> str:
        """The reason, or what was checked, shortened."""
        if self.reason:
            return self._in_scope(self.reason)
        if self.scope:
            return self._in_scope(", ".join(self.checks[:_MAX_COVERED]))
        return f"covered {len(self.checks)}: {', '.join(self.checks[:_MAX_COVERED])}"

    def _in_scope(self, text: str) -> str:
        return f"{self.scope}: {text}" if self.scope and not text.startswith(f"{self.scope}: ") else text


def verdict_groups(verdicts: Iterable[Verdict]) -> tuple[VerdictGroup, ...]:
    """In the order of the first verdict of each group."""
    groups: dict[tuple[str, ...], list[Verdict]] = {}
    for number, item in enumerate(verdicts):
        key = (item.level, item.probe, item.outcome, item.subject, item.reason)
        groups.setdefault(key if item.subject else (*key, str(number)), []).append(item)
    return tuple(_group(items) for items in groups.values())


def _group(verdicts: Sequence[Verdict]) -> VerdictGroup:
    first = verdicts[0]
    # What passed names its target itself, with the resources of its kernels.
    targets = () if first.outcome == "passed" else dict.fromkeys(item.target for item in verdicts if item.target)
    return VerdictGroup(
        level=first.level,
        probe=first.probe,
        outcome=first.outcome,
        scope=", ".join(text for text in (first.subject, *targets) if text),
        reason=first.reason,
        checks=tuple(dict.fromkeys(text for item in _sides(verdicts) for text in item)),
    )


def _sides(verdicts: Sequence[Verdict]) -> Iterable[tuple[str, ...]]:
    """First the results, then what they have in common, such as headers."""
    yield tuple(item.looked_at[0] for item in verdicts if item.looked_at)
    yield from (item.looked_at[1:] for item in verdicts)
