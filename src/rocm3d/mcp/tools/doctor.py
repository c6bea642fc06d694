"""doctor: is this machine, or a saved snapshot of another, fit for a port."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from rocm3d.mcp.answer import Answer, answer
from rocm3d.model.base import Record
from rocm3d.model.failure import Exit

if TYPE_CHECKING:
    from rocm3d.mcp.bench import Bench
    from rocm3d.model.condition import Diagnosis

TITLE = "Diagnose a machine"
POSITION = 85
PATHS = ("path", "snapshot")


class Arguments(Record):
    """As `rocm3d doctor --plan PATH --from SNAPSHOT --format json`."""

    path: Annotated[
        str | None, Field(min_length=1, description="A planned repository's folder: judge the machine for its plan.")
    ] = None
    snapshot: Annotated[
        str | None, Field(min_length=1, description="A file of `rocm3d doctor --save`; left out: this machine.")
    ] = None


def work(asked: Arguments, bench: Bench) -> Answer:
    """Tell what is wrong with this machine, or with a saved snapshot of another, for AMD GPUs, torch, and a plan.

    Changes nothing. Each problem has what was read, why it matters, the remedy, whether that takes root or a reboot,
    and how to check it. A remedy is for a person to decide on.
    """
    from rocm3d.model.plan import Plan
    from rocm3d.pipeline import examine, read_snapshot, take_snapshot

    planned = None if asked.path is None else bench.repository(asked.path).documents.read(Plan)
    knowledge = bench.load()
    bench.progress("reading the machine")
    taken = take_snapshot(None, knowledge) if asked.snapshot is None else read_snapshot(Path(asked.snapshot))
    document = examine(taken, knowledge, planned)
    return answer(
        document.model_dump(mode="json"), _summary(document), exit_code=int(_exit(document)), source="machine"
    )


def _summary(document: Diagnosis) -> str:
    if document.lacks:
        return "There is no AMD GPU on that machine; nothing was judged."
    notes = len(document.problems) - len(document.faults)
    return (
        f"{len(document.gpus)} AMD GPUs: {len(document.faults)} problems, {notes} notes, {len(document.fine)} "
        f"conditions are fine, {len(document.unread)} could not be read; knowledge of {document.knowledge_date}."
    )


def _exit(document: Diagnosis) -> Exit:
    if document.lacks:
        return Exit.MACHINE
    return Exit.FINDINGS if document.faults else Exit.DONE
