"""Verdicts of level resolve, from resolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Outcome, Verdict
from rocm3d.verify.resolution.judge import faults, other_bases
from rocm3d.verify.resolution.weight import weigh

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocm3d.verify.resolution.prepare import Aside
    from rocm3d.verify.resolution.session import Asked, Session


def verdict(probe: str, outcome: Outcome, reason: str = "", looked_at: Iterable[str] = ()) -> Verdict:
    """A verdict of level resolve."""
    return Verdict(level="resolve", probe=probe, outcome=outcome, reason=reason, looked_at=tuple(looked_at))


def set_aside(probe: str, aside: Iterable[Aside]) -> list[Verdict]:
    """One not_run for each excluded distribution."""
    return [verdict(probe, "not_run", f"{item.name}: {item.why}") for item in dict.fromkeys(aside)]


def judged(probe: str, asked: Asked, session: Session) -> list[Verdict]:
    """The verdict on one set, then those on its excluded distributions. No verdict on a set that became empty."""
    aside = set_aside(probe, asked.aside)
    return [_of_set(probe, asked, session), *aside] if asked.given.lines else aside


def _of_set(probe: str, asked: Asked, session: Session) -> Verdict:
    resolution, source = asked.resolution, asked.given.source
    if resolution.problem is None:
        wrong = faults(resolution, session.base, session.knowledge)
        if wrong:
            return verdict(probe, "failed", f"{source}: {'; '.join(wrong)}", _looked(asked, session))
        stays = f"unchanged: {session.base.shown}"
        return verdict(probe, "passed", "", [*_looked(asked, session), stays, *_worth_saying(asked, session)])
    problem = resolution.problem
    if problem.kind == "conflict":
        askers = other_bases(resolution, session.base)
        return verdict(
            probe, "failed", f"{source}: {'; '.join(askers) or problem.text}", [f"{source} by {session.label}"]
        )
    return verdict(probe, "not_run", f"{source}: {problem.kind}: {problem.text}")


def _looked(asked: Asked, session: Session) -> list[str]:
    """The download size without the stack's own distributions."""
    fetched = tuple(item for item in asked.resolution.packages if item.name not in session.base.versions)
    weight = weigh(fetched, session.knowledge, session.web)
    return [f"{asked.given.source}: {weight}, in addition to the stack, by {session.label}", *asked.given.notes]


def _worth_saying(asked: Asked, session: Session) -> list[str]:
    """Transitive packages that have a record but no decision, and packages without a wheel."""
    named = {line.name for line in asked.given.lines}
    packages = asked.resolution.packages
    known = [item.name for item in packages if item.name not in session.base.versions and item.name not in named]
    known = [name for name in known if session.knowledge.package_by_pip(name) is not None]
    built = [f"{item.name} {item.version}" for item in packages if item.is_source]
    return [
        *([f"transitive dependencies that default to CUDA: {', '.join(known)}"] if known else []),
        *([f"no wheel, built from source: {', '.join(built)}"] if built else []),
    ]
