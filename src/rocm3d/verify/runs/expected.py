"""Verdicts on expectations of a run: those of the command line and those of the repository's record."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rocm3d.record.expectation import NOT_MEASURED, evaluate
from rocm3d.record.port_workload import is_workload, port_expectations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.port import Port
    from rocm3d.model.run import ExpectationResult, RunRecord
    from rocm3d.model.verdict import Outcome

    VerdictParts = tuple[Outcome, str, tuple[str, ...]]


def expectation_verdicts(run: RunRecord, port: Port | None, knowledge: Knowledge) -> Iterator[VerdictParts]:
    """A value that was not recorded is not_run. Expectations of the record are evaluated again with current data."""
    user_results = [item for item in run.expectations if not item.source]
    yield from (_verdict_parts(item) for item in user_results)
    if port is None or port.workload is None or not is_workload(run.command, port.workload):
        return
    user_keys = {item.expectation.partition(" ")[0] for item in user_results}
    for expectation in port_expectations(port, knowledge.backends.values()):
        if expectation.key not in user_keys:
            yield _verdict_parts(evaluate(expectation, run))


def run_command(port: Port | None) -> str:
    """The command that records a run of this repository."""
    if port is None or port.workload is None or not port.workload.command:
        return "rocm3d run -- CMD ..."
    return f"rocm3d run --limit {2 * port.workload.minutes}m -- {shlex.join(port.workload.command)}"


def _verdict_parts(result: ExpectationResult) -> VerdictParts:
    source = f" (expected by {result.source})" if result.source else ""
    text = f"{result.expectation}: found {result.found}{source}"
    if result.met:
        return "passed", "", (text,)
    return (
        ("not_run", f"{result.expectation}: {NOT_MEASURED}{source}", ())
        if result.found == NOT_MEASURED
        else ("failed", text, ())
    )
