"""Checks recorded runs of the current code: the GPU they ran on, the backends that ran, and the artifacts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocm3d.model.verdict import Verdict
from rocm3d.verify.probe import Case, Probe
from rocm3d.verify.runs.artifacts import artifacts
from rocm3d.verify.runs.backends import backends
from rocm3d.verify.runs.expected import command, expected
from rocm3d.verify.runs.kept import latest
from rocm3d.verify.runs.place import elsewhere, place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.run import RunRecord
    from rocm3d.model.verdict import Outcome

_SHOWN = 3


def attempt(case: Case) -> tuple[Verdict, ...]:
    """Verdicts for the latest run of each name. Without a run: not_run, with the command that records one."""
    if case.knowledge is None:
        return (_verdict("not_run", "no knowledge base loaded"),)
    judged = latest(case.runs)
    if not judged:
        return (_verdict("not_run", _none(case, case.knowledge)),)
    return tuple(verdict for kept, run in judged for verdict in _of_run(case, case.knowledge, kept.folder, run))


def _of_run(case: Case, knowledge: Knowledge, folder: str, run: RunRecord) -> Iterator[Verdict]:
    name = f"runs/{folder}"
    if run.status != "finished":
        outcome: Outcome = "not_run" if run.status == "interrupted" else "failed"
        yield _verdict(outcome, f"{name}: {run.status}: {run.reason or 'reason unknown'}")
        return
    other = elsewhere(run, case.plan.gpu)
    if other is not None:
        yield _verdict(other[0], f"{name}: {other[1]}")
        return
    yield _verdict("passed", "", (f"{name}: finished in {run.seconds:.4g} s on {place(run)}",))
    port = knowledge.ports.get(case.plan.known_as or "")
    parts = (expected(run, port, knowledge), artifacts(run), backends(run, case.plan, knowledge))
    for outcome, reason, looked_at in (told for part in parts for told in part):
        seen = tuple(f"{name}: {text}" for text in looked_at)
        yield _verdict(outcome, f"{name}: {reason}" if reason else "", seen)


def _none(case: Case, knowledge: Knowledge) -> str:
    how = command(knowledge.ports.get(case.plan.known_as or ""))
    if not case.runs:
        return f"no recorded run. Record one on {case.plan.gpu.title}: {how}"
    why = "; ".join(f"{item.folder}: {item.stale}" for item in case.runs[-_SHOWN:])
    return f"no usable run of the current code ({why}). Record one: {how}"


def _verdict(outcome: Outcome, reason: str, looked_at: tuple[str, ...] = ()) -> Verdict:
    return Verdict(level="workload", probe=probe.name, outcome=outcome, reason=reason, looked_at=looked_at)


probe = Probe(__name__, "workload", attempt)
