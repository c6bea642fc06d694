"""One bounded workload from its command to its record: what ran, what came out, and whether that was expected."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from rocm3d.artifact.check import check_all, is_artifact
from rocm3d.evidence.expectation import KEYS, Expectation, judge, read
from rocm3d.evidence.folder import Contents, begin, seal
from rocm3d.evidence.produced import produced
from rocm3d.model.failure import Failure, UserError
from rocm3d.model.run import RunRecord
from rocm3d.record.run import Workload, record_run
from rocm3d.workspace.state import work_folder

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.artifact import Artifact

__all__ = ["KEYS", "RUN", "Expectation", "Workload", "expected", "new_folder", "run_workload"]

RUN = "run.json"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def expected(texts: Sequence[str], knowledge: Knowledge) -> tuple[Expectation, ...]:
    """Every --expect, refused before anything runs where it could never be met."""
    return tuple(read(text, knowledge.backends.values()) for text in texts)


def new_folder(root: Path, name: str, work: Path | None = None) -> Path:
    """Where a run is kept. An earlier run of that name stays, and the new one gets a number."""
    place = work_folder(root, work) / "runs"
    plain = _UNSAFE.sub("-", name).strip("-.") or "run"
    for number in range(1, 10_000):
        folder = place / (plain if number == 1 else f"{plain}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise UserError(f"{folder}: {error.strerror}") from error
        return folder
    raise UserError(f"{place} has too many runs called {plain}", hint="give this one a --name, or remove some")


def run_workload(
    workload: Workload,
    into: Path,
    knowledge: Knowledge,
    expectations: Sequence[Expectation] = (),
    terminal: IO[bytes] | None = None,
) -> RunRecord:
    """Run it, look at what it wrote, and make `into` a bundle of the record, what was printed, and what came out."""
    begin(into)
    try:
        record = record_run(workload, into, knowledge, terminal)
    except Failure:
        shutil.rmtree(into, ignore_errors=True)  # it could not be started: nothing is lost
        raise
    looked = record.model_copy(update={"artifacts": tuple(_artifacts(record, workload.folder))})
    judged = looked.model_copy(update={"expectations": tuple(judge(item, looked) for item in expectations)})
    (into / RUN).write_text(judged.to_json(), encoding="utf-8")
    seal(into, Contents(repository=workload.folder.name, runs=(judged,), files=produced(judged, workload.folder)))
    return judged


def _artifacts(record: RunRecord, folder: Path) -> list[Artifact]:
    paths = [item.path for item in record.files if is_artifact(Path(item.path))]
    looked = check_all([folder / path for path in paths])
    return [item.model_copy(update={"path": path}) for path, item in zip(paths, looked, strict=True)]
