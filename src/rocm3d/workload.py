"""Runs one workload and records it: what ran, the artifacts, and whether they match the expectations."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from rocm3d.artifact.check import check_all, is_artifact
from rocm3d.evidence.folder import (
    EVIDENCE_FILE,
    FILES_FOLDER,
    BundleContents,
    bundled_artifacts,
    mark_unfinished,
    seal,
)
from rocm3d.evidence.port_runs import written_by_earlier_runs
from rocm3d.evidence.run_bundles import RUNS_FOLDER
from rocm3d.model.errors import Rocm3dError, UserError
from rocm3d.model.run import RunRecord
from rocm3d.record.expectation import KEYS, Expectation, evaluate, is_workload, parse_expectation, port_expectations
from rocm3d.record.redact import Redactor
from rocm3d.record.run import RunRequest, record_run
from rocm3d.scan.recognition import recognised_port
from rocm3d.workspace.documents import Documents
from rocm3d.workspace.state import STATE_FOLDER
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.artifact import Artifact

__all__ = [
    "KEYS",
    "RUN",
    "Expectation",
    "RunRequest",
    "known_expectations",
    "new_run_folder",
    "read_expectations",
    "redacted_name",
    "repository_of",
    "run_workload",
]

RUN = "run.json"
_PLAN = "plan.json"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def read_expectations(texts: Sequence[str], knowledge: Knowledge) -> tuple[Expectation, ...]:
    """Parse every --expect. Raises UserError, before anything runs, for one that can never be met."""
    return tuple(parse_expectation(text, knowledge.backends.values()) for text in texts)


def known_expectations(
    command: Sequence[str], root: Path, knowledge: Knowledge, requested: Sequence[Expectation] = ()
) -> tuple[Expectation, ...]:
    """Expectations from the record of a known repository, if `command` is its workload.

    A requested expectation replaces that of the record with the same key.
    """
    named = {mark for port in knowledge.ports.values() for mark in (*port.marks, *port.mark_texts)}
    tree = Tree.open(root)
    marks = {mark for mark in named if (root / mark).is_file()}
    port = knowledge.ports.get(recognised_port(marks, knowledge, tree.read) or "")
    if port is None or port.workload is None or not is_workload(command, port.workload):
        return ()
    requested_keys = {item.key for item in requested}
    return tuple(
        item for item in port_expectations(port, knowledge.backends.values()) if item.key not in requested_keys
    )


def repository_of(folder: Path) -> Path:
    """The nearest folder with a plan, starting at `folder` and going up; `folder` itself if there is none."""
    resolved = folder.resolve()
    return next(
        (candidate for candidate in (resolved, *resolved.parents) if (candidate / STATE_FOLDER / _PLAN).is_file()),
        resolved,
    )


def redacted_name(command: Sequence[str], name: str) -> str:
    """The name of a run without secrets of its command and environment, for the name of its folder."""
    return Redactor.for_run(command, os.environ).text(name)


def new_run_folder(root: Path, name: str, work: Path | None = None) -> Path:
    """Create the folder of a new run. If the name is taken, adds a number."""
    runs_folder = Documents.of(root, work).folder / RUNS_FOLDER
    if runs_folder.is_symlink():
        raise UserError(f"{runs_folder} is a symlink; rocm3d does not write through it", hint="remove it")
    safe_name = _UNSAFE.sub("-", name).strip("-.") or "run"
    for number in range(1, 10_000):
        folder = runs_folder / (safe_name if number == 1 else f"{safe_name}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise UserError(f"{folder}: {error.strerror}") from error
        return folder
    raise UserError(
        f"{runs_folder} has too many runs named {safe_name}", hint="choose another --name, or delete some runs"
    )


def run_workload(
    workload: RunRequest,
    into: Path,
    knowledge: Knowledge,
    expectations: Sequence[Expectation] = (),
    terminal: IO[bytes] | None = None,
) -> RunRecord:
    """Run the workload, check its artifacts, and write a bundle of record, output and artifacts to `into`."""
    mark_unfinished(into)
    documents, redactor = Documents(into.parent.parent), Redactor.for_run(workload.command, os.environ)
    try:
        prepared = replace(workload, written=written_by_earlier_runs(documents))
        record = record_run(prepared, into, knowledge, terminal, redactor)
    except Rocm3dError:
        shutil.rmtree(into, ignore_errors=True)  # it did not start: nothing to keep
        raise
    with_artifacts = record.model_copy(update={"artifacts": tuple(_artifacts(record, workload.folder))})
    with_verdicts = with_artifacts.model_copy(
        update={"expectations": tuple(evaluate(expectation, with_artifacts) for expectation in expectations)}
    )
    names = redactor.paths(
        [*(item.path for item in with_verdicts.files), *(item.path for item in with_verdicts.artifacts)]
    )
    redacted = redactor.record(_renamed(with_verdicts, names))
    (into / RUN).write_text(redacted.to_json(), encoding="utf-8")
    bundled = bundled_artifacts(with_verdicts, workload.folder)
    prefix = f"{FILES_FOLDER}/"
    seal(
        into,
        BundleContents(
            repository=redactor.text(workload.root.name),
            runs=(redacted,),
            files={prefix + names[path.removeprefix(prefix)]: source for path, source in bundled.items()},
            redactor=redactor,
        ),
    )
    if into.parent.name == RUNS_FOLDER:
        documents.seal_existing(f"{RUNS_FOLDER}/{into.name}/{EVIDENCE_FILE}")
    return redacted


def _renamed(record: RunRecord, names: Mapping[str, str]) -> RunRecord:
    """The record with other paths of its files."""
    files = tuple(item.model_copy(update={"path": names[item.path]}) for item in record.files)
    artifacts = tuple(item.model_copy(update={"path": names[item.path]}) for item in record.artifacts)
    return record.model_copy(update={"files": files, "artifacts": artifacts})


def _artifacts(record: RunRecord, folder: Path) -> list[Artifact]:
    paths = [item.path for item in record.files if is_artifact(Path(item.path))]
    reports = check_all([folder / path for path in paths])
    return [item.model_copy(update={"path": path}) for path, item in zip(paths, reports, strict=True)]
