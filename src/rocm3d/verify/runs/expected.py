"""Verdicts on expectations of a run: those of the command line and those of the repository's record."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rocm3d.record.expectation import NOTHING, judge
from rocm3d.record.port_workload import is_workload, port_expectations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.port import Port
    from rocm3d.model.run import ExpectationResult, RunRecord
    from rocm3d.model.verdict import Outcome

    Told = tuple[Outcome, str, tuple[str, ...]]


def expected(run: RunRecord, port: Port | None, knowledge: Knowledge) -> Iterator[Told]:
    """A value that was not recorded is not_run. Expectations of the record are evaluated again with current data."""
    asked = [item for item in run.expectations if not item.source]
    yield from (_told(item) for item in asked)
    if port is None or port.workload is None or not is_workload(run.command, port.workload):
        return
    taken = {item.expectation.partition(" ")[0] for item in asked}
    for wanted in port_expectations(port, knowledge.backends.values()):
        if wanted.key not in taken:
            yield _told(judge(wanted, run))


def command(port: Port | None) -> str:
    """The command that records a run of this repository."""
    if port is None or port.workload is None or not port.workload.command:
        return "rocm3d run -- CMD ..."
    return f"rocm3d run --limit {2 * port.workload.minutes}m -- {shlex.join(port.workload.command)}"


def _told(item: ExpectationResult) -> Told:
    by = f" (expected by {item.source})" if item.source else ""
    said = f"{item.expectation}: found {item.found}{by}"
    if item.met:
        return "passed", "", (said,)
    return ("not_run", f"{item.expectation}: {NOTHING}{by}", ()) if item.found == NOTHING else ("failed", said, ())
