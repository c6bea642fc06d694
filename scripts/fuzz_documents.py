"""Fuzz targets for our own documents: whoever sends a repository can send any of these with it.

`fuzz_targets.py` adds them to its own. Models, journals and bundles are read directly, as if their seal held; the
target `state` puts any file into .rocm3d and runs commands, which must end with exit 0, 1 or 2 and leave the tree as it
was.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, cast

from rocm3d.apply.stage import is_port_folder
from rocm3d.cli import application
from rocm3d.evidence.folder import EVIDENCE_FILE, SEAL_FILE
from rocm3d.evidence.ledger import LedgerFile
from rocm3d.evidence.run_bundles import bundle_report
from rocm3d.jobs.journal import open_journal
from rocm3d.jobs.specification import read_jobs
from rocm3d.jobs.status_files import list_attempts, read_attempt
from rocm3d.model.base import Document
from rocm3d.model.bundle import Bundle
from rocm3d.model.errors import Rocm3dError, UserError
from rocm3d.model.evidence import Evidence
from rocm3d.model.inventory import Scan
from rocm3d.model.patch import Patch
from rocm3d.model.plan import Plan
from rocm3d.model.review import ReviewAnswers
from rocm3d.model.run import RunRecord
from rocm3d.model.verdict import Verdicts
from rocm3d.record.golden import read_recording
from rocm3d.render import console
from rocm3d.render.formats import FORMATS, RenderContext, format_names
from rocm3d.scan.scan_cache import ScanCache
from rocm3d.workspace.documents import DOCUMENT_FILES, Documents
from rocm3d.workspace.result_cache import ResultCache
from rocm3d.workspace.tree import Tree

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "deform-op"
DOCUMENTS: tuple[type[Document], ...] = (
    Scan, Plan, Patch, Verdicts, Evidence, ReviewAnswers, Bundle, RunRecord,
)  # fmt: skip
# Files of the state, and what a user does next. The first byte of an input chooses the pair.
STATE = (
    "undo/journal.json", "plan.json", "patch.json", "verdicts.json", "evidence.json", "inventory.json",
    "plan-asked.json", "lock", "runs/a/evidence.json", "runs/a/run.json", "port.patch", "undo/reserve",
)  # fmt: skip
COMMANDS = (
    ("undo", "{}"), ("apply", "{}", "--dry-run"), ("verify", "{}"), ("report", "{}", "--format", "json"),
    ("plan", "{}", "--gpu", "gfx942"), ("evidence", "check", "{}/.rocm3d"),
)  # fmt: skip
_ORIGINAL = b"import torch\n\nprint(torch.version.cuda)\n"

Target = Callable[[bytes], None]


def document_targets(knowledge: Any) -> dict[str, Target]:
    """A target for each kind of document."""
    targets: dict[str, Target] = {_name(kind): _document(kind, knowledge) for kind in DOCUMENTS}
    return {
        **targets,
        "bundle": _bundle,
        "port.json": _port_folder,
        "jobs.toml": _jobs_file,
        "jobs-status": _attempt,
        "jobs-journal": _journal,
        "ledger": _ledger,
        "golden": _recording,
        "cache": _cache,
        "state": _state,
    }


def document_seeds() -> dict[str, list[bytes]]:
    """Seeds by target: the documents of a small port, with one entry of each list."""
    written = _port()
    seeds = {_name(kind): _trimmed_texts(written, kind) for kind in DOCUMENTS}
    named = [*seeds["document-plan"], *seeds["document-patch"], *seeds["document-bundle"]]
    journal = _forged_journal()
    return {
        **seeds,
        "bundle": seeds["document-bundle"] or [b"{}"],
        "port.json": [b'{"tool": "rocm3d", "edited": {}, "added": ["a"]}'],
        "jobs.toml": [b'[run]\nseconds = "10m"\n[[job]]\nid = "a-{}"\neach = ["1", "2"]\ncommand = ["a", "{}"]\n'],
        "jobs-status": [b'{"ending": "done", "code": 0, "digest": "a", "seconds": 1.5, "ended": 2, "slot": "0"}'],
        "jobs-journal": [_new_journal()],
        "ledger": [b'{"schema_version": "1.0", "fixes": []}'],
        "golden": [
            b'{"schema_version": "1.0", "files": [{"name": "a", "path": "../a", "sha256": "0"}], "exit_code": 0}'
        ],
        "cache": [b'{"text": "{}", "serious": true, "also": {"a.py": "0"}}', b'["a.py"]'],
        "state": [bytes([number]) + text for number, text in enumerate([journal, *named, journal])],
    }


def _name(kind: type[Document]) -> str:
    return f"document-{kind.__name__.lower()}"


def _document(kind: type[Document], knowledge: Any) -> Target:
    """A document with a valid seal, or named on the command line: refused in one line, or shown in every format."""
    context = RenderContext(lambda: knowledge, False, False, 100)

    def target(data: bytes) -> None:
        try:
            document = kind.from_json(data.decode("utf-8", "replace"), "it")
        except UserError as error:
            _require_one_line(error)
            return
        text = document.to_json()
        if kind.from_json(text, "it").to_json() != text:
            raise AssertionError("the document is not the same after JSON")
        for name in _formats(kind):
            FORMATS[name].render(document, context)
        if kind is not Bundle:
            console.summary(document)

    return target


def _formats(kind: type[Document]) -> tuple[str, ...]:
    """A bundle is shown by its runs."""
    return () if kind is Bundle else format_names(kind)


def _require_one_line(error: Rocm3dError) -> None:
    error.message.encode()
    if "\n" in error.message:
        raise AssertionError(f"a message of more than one line: {error.message!r}")


def _bundle(data: bytes) -> None:
    """The bundle of a run, with a seal that holds or, after a byte 255, another one."""
    content, _, seal = data.partition(b"\xff")
    with _folder() as folder:
        run = folder / "runs" / "a"
        run.mkdir(parents=True)
        (run / EVIDENCE_FILE).write_bytes(content)
        (run / "run.json").write_bytes(content)
        digest = f"{hashlib.sha256(content).hexdigest()}  {EVIDENCE_FILE}\n".encode()
        (run / SEAL_FILE).write_bytes(seal or digest)
        with suppress(UserError):
            bundle_report(run)


def _port_folder(data: bytes) -> None:
    with _folder() as folder:
        (folder / "rocm-port").mkdir()
        (folder / "rocm-port" / "port.json").write_bytes(data)
        is_port_folder(Tree.open(folder), "rocm-port")


def _jobs_file(data: bytes) -> None:
    with _folder() as folder:
        (folder / "jobs.toml").write_bytes(data)
        try:
            read_jobs(folder / "jobs.toml")
        except UserError as error:
            error.message.encode()


def _attempt(data: bytes) -> None:
    """A status file; the name of one comes after a byte 255."""
    content, _, name = data.partition(b"\xff")
    with _folder() as folder:
        with suppress(OSError, ValueError):
            (folder / os.fsdecode(name.replace(b"/", b"") or b"a.1")).write_bytes(content)
        for files in list_attempts(folder).values():
            for number, file in files.items():
                read_attempt(folder, number, file)


def _journal(data: bytes) -> None:
    """The journal of a run of jobs: a database of anybody."""
    with _folder() as folder:
        (folder / "journal.sqlite").write_bytes(data)
        with suppress(Rocm3dError):
            journal, _, _ = open_journal(folder / "journal.sqlite")
            journal.close()


def _ledger(data: bytes) -> None:
    with _folder() as folder:
        (folder / "ledger.json").write_bytes(data)
        try:
            LedgerFile.open(folder / "ledger.json", lambda _: None).read()
        except UserError as error:
            error.message.encode()


def _recording(data: bytes) -> None:
    with _folder() as folder:
        (folder / "recording.json").write_bytes(data)
        with suppress(UserError):
            read_recording(folder)


def _cache(data: bytes) -> None:
    """A value that another program put into the cache, and a cache of any bytes."""
    with _folder() as folder:
        (folder / "a.py").write_bytes(_ORIGINAL)
        tree = Tree.open(folder, excluded_folders=frozenset({"cache"}))
        (folder / "cache").mkdir()
        results = ResultCache(folder / "cache" / "scan.sqlite")
        value = data.decode("utf-8", "replace")
        scan = ScanCache(results, tree, "a")
        results.put({"key": value, scan.key(["a.py"]): value})
        scan.get("key")
        scan.find()
        results.path.write_bytes(data)
        scan.get("key")


def _state(data: bytes) -> None:
    """Any file in .rocm3d, and a command. Nothing was applied here, so nothing may change."""
    number = data[0] if data else 0
    file_name = STATE[number % len(STATE)]
    command = COMMANDS[number // len(STATE) % len(COMMANDS)]
    with _folder() as folder:
        tree = folder / "tree"
        (tree / ".git").mkdir(parents=True)
        (tree / "a.py").write_bytes(_ORIGINAL)
        (tree / ".git" / "config").write_bytes(_ORIGINAL)
        (folder / "outside").write_bytes(_ORIGINAL)
        file = tree / ".rocm3d" / file_name
        file.parent.mkdir(parents=True)
        file.write_bytes(data[1:])
        (tree / ".rocm3d" / "undo").mkdir(exist_ok=True)
        (tree / ".rocm3d" / "undo" / hashlib.sha256(b"evil").hexdigest()).write_bytes(b"evil")
        code, output = _run(folder, *(word.format(tree) for word in command))
        if code not in (0, 1, 2, 4):
            raise AssertionError(f"{command[0]} exits {code}: {output}")
        for path in (tree / "a.py", tree / ".git" / "config", folder / "outside"):
            if path.read_bytes() != _ORIGINAL:
                raise AssertionError(f"{command[0]} changed {path.name}")


def _run(home: Path, *words: str) -> tuple[int, str]:
    """The exit code and the output of a command, run in this process."""
    output = io.StringIO()
    os.environ |= {"ROCM3D_DATA": str(home / "data"), "ROCM3D_CACHE": str(home / "cache")}
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            application.build(words[0])(words)
        except SystemExit as end:
            return cast("int", end.code or 0), output.getvalue()
    return 0, output.getvalue()


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@cache
def _port() -> Path:
    """The documents of a port of a small example; the folder stays until the end of the process."""
    folder = Path(tempfile.mkdtemp(prefix="rocm3d-fuzz-"))
    shutil.copytree(EXAMPLE, folder / "tree", ignore=shutil.ignore_patterns(".rocm3d"))
    before = dict(os.environ)
    try:
        _run(folder, "port", str(folder / "tree"), "--gpu", "gfx942", "--yes", "--quiet")
    finally:
        os.environ.clear()
        os.environ.update(before)
    return folder / "tree" / ".rocm3d"


def _trimmed_texts(folder: Path, kind: type[Document]) -> list[bytes]:
    path = Documents(folder).path(kind) if kind.__name__ in DOCUMENT_FILES else None
    if path is None or not path.is_file():
        return [b'{"schema_version": "1.0"}']
    text = path.read_text(encoding="utf-8")
    return [json.dumps(_trimmed(json.loads(text))).encode()]


def _trimmed(value: Any) -> Any:
    """One entry of each list: a seed must be small."""
    if isinstance(value, dict):
        return {key: _trimmed(item) for key, item in value.items()}
    return [_trimmed(item) for item in value[:1]] if isinstance(value, list) else value


def _forged_journal() -> bytes:
    entry = {"before": hashlib.sha256(b"evil").hexdigest(), "after": hashlib.sha256(_ORIGINAL).hexdigest()}
    return json.dumps({"entries": {".git/config": {**entry, "folders": [], "previous": None}}}).encode()


def _new_journal() -> bytes:
    with _folder() as folder:
        journal, _, _ = open_journal(folder / "journal.sqlite")
        journal.close()
        return (folder / "journal.sqlite").read_bytes()
