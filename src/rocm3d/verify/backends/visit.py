"""Runs the backend checks of levels import, backend and numerics: one verdict for each package of the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rocm3d.model.verdict import Level, Verdict
from rocm3d.verify.backends.ask import ask
from rocm3d.verify.backends.judge import judged
from rocm3d.verify.backends.subjects import subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rocm3d.model.look import BackendCheck
    from rocm3d.model.verdict import Outcome
    from rocm3d.verify.probe import Case

    Tell = Callable[[BackendCheck, str, str], Verdict]

_UNKNOWN: tuple[Outcome, str] = ("not_run", "no backend check exists")


def visit(case: Case, level: Level, probe: str, tell: Tell) -> tuple[Verdict, ...]:
    """A verdict for each package. Packages without a check share one verdict for each reason."""
    if case.knowledge is None or case.environment.lacks:
        reason = case.environment.lacks or "no knowledge base loaded"
        return (Verdict(level=level, probe=probe, outcome="not_run", reason=reason),)
    return tuple(_told(case, level, probe, tell))


def _told(case: Case, level: Level, probe: str, tell: Tell) -> Iterator[Verdict]:
    assert case.knowledge is not None
    aside: dict[tuple[Outcome, str], list[str]] = {}
    for subject in subjects(case.plan, case.knowledge):
        question = subject.question
        if question is None or (level != "import" and not question.probe):
            aside.setdefault(subject.aside or _UNKNOWN, []).append(subject.package)
            continue
        asked = replace(question, probe="") if level == "import" else question
        look = judged(ask(asked, case.environment, case.knowledge), case.knowledge.backends)
        yield tell(look, probe, subject.planned)
    for (outcome, reason), names in aside.items():
        yield Verdict(level=level, probe=probe, outcome=outcome, reason=f"{reason}: {', '.join(names)}")
