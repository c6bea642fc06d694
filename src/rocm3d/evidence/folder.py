"""Reads and writes bundle folders. Writing is atomic and deterministic: same inputs, same bytes.

evidence.json lists every other file with its digest; evidence.sha256 holds its own, in the format of sha256sum.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from rocm3d.evidence.bundle import tally
from rocm3d.evidence.chain import evidence_chain
from rocm3d.evidence.secret_scan import refuse_secrets
from rocm3d.model.base import Document
from rocm3d.model.bundle import Bundle, StageSummary
from rocm3d.model.errors import UserError
from rocm3d.model.evidence import SealedFile, Tally
from rocm3d.model.inventory import Scan
from rocm3d.model.patch import Patch
from rocm3d.model.plan import Plan
from rocm3d.model.run import RunRecord
from rocm3d.model.verdict import Verdict, Verdicts
from rocm3d.record.redact import Redactor
from rocm3d.workspace.tree import file_digest

EVIDENCE_FILE, SEAL_FILE, UNFINISHED_FILE = "evidence.json", "evidence.sha256", "UNFINISHED"
_HINT = "create it again with `rocm3d run`"
_DOCUMENTS_FOLDER = "documents"
# In the order of the stages: name, file, model.
_STAGES: tuple[tuple[str, str, type[Document]], ...] = (
    ("scan", "inventory.json", Scan),
    ("plan", "plan.json", Plan),
    ("apply", "patch.json", Patch),
    ("verify", "verdicts.json", Verdicts),
)
FILES_FOLDER = "files"
MAX_BYTES = 512 * 1024 * 1024


@dataclass(frozen=True)
class BundleContents:
    """Stage documents by file name, runs, and any other files by their path in the bundle."""

    repository: str = ""
    documents: Mapping[str, bytes] = field(default_factory=dict)
    runs: tuple[RunRecord, ...] = ()
    files: Mapping[str, Path | bytes] = field(default_factory=dict)
    redactor: Redactor = field(default_factory=Redactor)


def write(contents: BundleContents, into: Path) -> Bundle:
    """Create the folder `into`. Until it is complete it has a temporary name and a marker file."""
    if into.exists() or into.is_symlink():
        raise UserError(f"{into} already exists", hint="choose a new folder")
    stages = StageDocuments(contents.documents)
    try:
        into.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=into.parent, prefix=f"{into.name}-", suffix=".partial"))
    except OSError as error:
        raise UserError(f"cannot write {into}: {error.strerror}") from error
    try:
        mark_unfinished(unfinished)
        bundle = _write_and_seal(unfinished, contents, stages)
        unfinished.chmod(0o777 & ~_umask())
        unfinished.rename(into)
    except OSError as error:
        raise UserError(f"cannot write {into}: {error.strerror}") from error
    finally:
        # Exists only if something failed before the rename.
        shutil.rmtree(unfinished, ignore_errors=True)
    return bundle


def mark_unfinished(folder: Path) -> None:
    """For a bundle that is filled while a program runs. `seal` removes the mark."""
    (folder / UNFINISHED_FILE).touch()


def seal(folder: Path, contents: BundleContents) -> Bundle:
    """Turn a folder and its files into a bundle, with the contents added. Until this returns it is incomplete."""
    try:
        return _write_and_seal(folder, contents, StageDocuments(contents.documents))
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}") from error


def read(folder: Path) -> tuple[Bundle, bytes]:
    """The bundle and the bytes of its evidence.json. Raises UserError if the folder is not a complete bundle."""
    return Bundle.from_json((data := read_bytes(folder)).decode("utf-8", "replace"), str(folder / EVIDENCE_FILE)), data


def read_bytes(folder: Path) -> bytes:
    """evidence.json of a complete bundle."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder", hint="pass the folder of an evidence bundle")
    if (folder / UNFINISHED_FILE).exists():
        raise UserError(f"{folder} is incomplete: writing it was interrupted", hint=_HINT)
    if not (folder / EVIDENCE_FILE).is_file():
        raise UserError(f"{folder} is not an evidence bundle: {EVIDENCE_FILE} is missing", hint=_HINT)
    if not (folder / SEAL_FILE).is_file():
        if (folder / "inventory.json").is_file():
            raise UserError(f"{folder} is the work folder of a port, not a bundle", hint="see `rocm3d report`")
        raise UserError(f"{folder} is incomplete: {SEAL_FILE} is missing", hint=_HINT)
    try:
        return (folder / EVIDENCE_FILE).read_bytes()
    except OSError as error:
        raise UserError(f"{folder / EVIDENCE_FILE} cannot be read: {error.strerror}") from error


def is_inside(name: str) -> bool:
    """Whether a relative path stays inside the folder and is not reserved for the bundle itself."""
    parts = PurePosixPath(name).parts
    is_relative = (
        bool(parts) and not name.startswith("/") and ".." not in parts and "\0" not in name and "\\" not in name
    )
    return (
        is_relative
        and PurePosixPath(name).as_posix() == name
        and name not in (EVIDENCE_FILE, SEAL_FILE, UNFINISHED_FILE)
    )


def _write_and_seal(folder: Path, contents: BundleContents, stages: StageDocuments) -> Bundle:
    """evidence.json is written last, then its digest; the marker is removed after that."""
    _copy_contents(folder, contents)
    runs = tuple(sorted(contents.runs, key=lambda run: (run.name, run.started)))
    bundle = Bundle(
        repository=contents.repository,
        stages=stages.summaries(),
        verdicts=stages.verdicts(),
        tally=stages.tally(),
        runs=runs,
        chains=tuple(evidence_chain(run) for run in runs or (None,)),
        files=tuple(SealedFile(path=name, sha256=file_digest(folder / name)) for name in _file_names(folder)),
    )
    data = bundle.to_json().encode()
    (folder / EVIDENCE_FILE).write_bytes(data)
    refuse_secrets(folder, contents.redactor)
    (folder / SEAL_FILE).write_text(f"{hashlib.sha256(data).hexdigest()}  {EVIDENCE_FILE}\n", encoding="ascii")
    (folder / UNFINISHED_FILE).unlink(missing_ok=True)
    return bundle


def _file_names(folder: Path) -> list[str]:
    """All files except the bundle's own. Links are refused: they mean something else on another machine."""
    names = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise UserError(f"{path} is a link or a device; a bundle may contain only files")
        if path.is_file() and name not in (EVIDENCE_FILE, SEAL_FILE, UNFINISHED_FILE):
            names.append(name)
    return sorted(names)


def _copy_contents(folder: Path, contents: BundleContents) -> None:
    documents = {f"{_DOCUMENTS_FOLDER}/{name}": data for name, data in contents.documents.items()}
    for name, source in sorted({**contents.files, **documents}.items()):
        if not is_inside(name):
            raise UserError(f"cannot add {name!r} to a bundle: the path leaves the folder or is reserved")
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, bytes):
            target.write_bytes(source)
        else:
            shutil.copyfile(source, target)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


class StageDocuments:
    """The documents that exist, parsed. Another schema version raises UserError."""

    def __init__(self, documents: Mapping[str, bytes]) -> None:
        self.documents: dict[str, Document] = {
            stage: kind.from_json(documents[name].decode("utf-8", "replace"), name)
            for stage, name, kind in _STAGES
            if name in documents
        }

    def summaries(self) -> tuple[StageSummary, ...]:
        files = {stage: name for stage, name, _ in _STAGES}
        return tuple(
            StageSummary(stage=stage, path=f"{_DOCUMENTS_FOLDER}/{files[stage]}", says=_summarize(document))
            for stage, document in self.documents.items()
        )

    def verdicts(self) -> tuple[Verdict, ...]:
        document = self.documents.get("verify")
        return document.verdicts if isinstance(document, Verdicts) else ()

    def tally(self) -> Tally | None:
        """None unless plan, patch and verdicts all exist."""
        plan, patch, verdicts = (self.documents.get(stage) for stage in ("plan", "apply", "verify"))
        if isinstance(plan, Plan) and isinstance(patch, Patch) and isinstance(verdicts, Verdicts):
            return tally(plan, patch, verdicts)
        return None


def _summarize(document: Document) -> str:
    if isinstance(document, Scan):
        severities = Counter(item.severity for item in document.findings)
        return f"{document.inventory.readiness}; errors: {severities['error']}, warnings: {severities['warning']}"
    if isinstance(document, Plan):
        stack = document.stack.id if document.stack else "no stack"
        return f"{document.readiness} on {document.gpu.title} with {stack}; decisions: {len(document.decisions)}"
    if isinstance(document, Patch):
        return f"files changed: {len(document.changes)}, tasks: {len(document.tasks)}"
    assert isinstance(document, Verdicts)
    outcomes = Counter(item.outcome for item in document.verdicts)
    return ", ".join(f"{outcomes[word]} {word}" for word in ("passed", "failed", "skipped", "not_run"))


def bundled_artifacts(run: RunRecord, root: Path, max_bytes: int = MAX_BYTES) -> dict[str, Path]:
    """Source paths by their path in the bundle, smallest files first. Paths of the run are relative to `root`.

    Files beyond the limit are identified by their digest in the record.
    """
    sizes = {item.path: item.bytes for item in run.artifacts if is_inside(f"{FILES_FOLDER}/{item.path}")}
    bundled, total_bytes = dict[str, Path](), 0
    for path, size in sorted(sizes.items(), key=lambda item: (item[1], item[0])):
        source = root / path
        total_bytes += size
        if total_bytes > max_bytes:
            break
        if source.is_file() and source.resolve().is_relative_to(root.resolve()):
            bundled[f"{FILES_FOLDER}/{path}"] = source
    return bundled
