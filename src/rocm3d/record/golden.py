"""Runs a program and records its numeric results: files that it wrote, and outputs of its torch modules.

The program needs no changes. A recording is a folder with these files and recording.json, which has their digests.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocm3d.model.backend_check import OmittedOutput, RecordedFile, Recording
from rocm3d.model.errors import UserError
from rocm3d.record.hook_events import hook_environment, read_events
from rocm3d.record.redact import Redactor
from rocm3d.workspace.process import run, scratch_file
from rocm3d.workspace.tree import file_digest

RECORDING_FILE = "recording.json"
COPIED_SUFFIXES = (".npy", ".npz", ".ply", ".json")
TORCH_SUFFIXES = (".pt", ".pth", ".ckpt")
_UNPACK_SCRIPT = Path(__file__).parents[1] / "payload" / "unpack_tensors.py"
_MAX_OUTPUT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class RecordingRequest:
    """What to run and record: files below `outputs`, and the outputs of torch modules whose name matches a pattern."""

    command: tuple[str, ...]
    outputs: tuple[Path, ...] = ()
    modules: tuple[str, ...] = ()
    calls: int = 1
    seed: int | None = None
    seconds: float = 3600.0
    interpreter: Path | None = None


def record(request: RecordingRequest, into: Path, machine: str) -> Recording:
    """Run the program and record into a new folder. A failed program is recorded too, with its exit code."""
    _create_folder(into)
    into = into.resolve()  # the program may change the working directory
    before = {path: _stamp(path) for path in _files(request.outputs, into)}
    report, modules = into / "report.jsonl", into / "modules"
    modules.mkdir()
    settings = {"folder": str(modules), "modules": request.modules, "calls": request.calls, "seed": request.seed}
    hash_seed = {} if request.seed is None else {"PYTHONHASHSEED": str(request.seed % 2**32)}
    env = hook_environment(report, ROCM3D_GOLDEN=json.dumps(settings), **hash_seed)
    redactor = Redactor.for_run(request.command, os.environ)
    ended = run(request.command, env=env, seconds=request.seconds, keep_bytes=_MAX_OUTPUT_BYTES, contained=True)
    (into / "output.txt").write_bytes(redactor.data(ended.stdout + ended.stderr))
    events = read_events(report)
    builder = _RecordingBuilder(into, request)
    builder.add_tensors(events, "modules")
    builder.add_outputs([path for path in _files(request.outputs, into) if before.get(path) != _stamp(path)])
    builder.add_missing(events)
    recording = Recording(
        command=redactor.arguments(request.command),
        exit_code=ended.code,
        seed=request.seed,
        machine=machine,
        environment=next((line["environment"] for line in events if line.get("kind") == "environment"), {}),
        files=tuple(sorted(builder.files, key=lambda file: file.name)),
        left_out=tuple(builder.left_out),
    )
    (into / RECORDING_FILE).write_text(recording.to_json(), encoding="utf-8")
    return recording


def read_recording(folder: Path) -> Recording:
    """Load a recording and check the digests of its files. Raises UserError if a file changed or the program failed."""
    recording_path = folder / RECORDING_FILE
    if not recording_path.is_file():
        raise UserError(f"{folder} has no {RECORDING_FILE}", hint="create a recording with `rocm3d golden record`")
    try:
        text = recording_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{recording_path} cannot be read: {error}", hint="record it again") from error
    recording = Recording.from_json(text, str(recording_path))
    for file in recording.files:
        path = folder / file.path
        if (
            not path.resolve().is_relative_to(folder.resolve())
            or not path.is_file()
            or file_digest(path) != file.sha256
        ):
            raise UserError(f"{path} has changed since it was recorded", hint="record it again")
    if recording.exit_code != 0:
        raise UserError(f"{folder} is a recording of a program that failed", hint=f"see {folder / 'output.txt'}")
    return recording


class _RecordingBuilder:
    """Collects the files of a recording."""

    def __init__(self, into: Path, request: RecordingRequest) -> None:
        self.into, self.request = into, request
        self.files: list[RecordedFile] = []
        self.left_out: list[OmittedOutput] = []

    def add_tensors(self, events: list[dict[str, Any]], below: str) -> None:
        """Add .npy files that a payload wrote to the folder `below`."""
        for event in events:
            if event.get("kind", "tensor") == "tensor":
                self._add(event["name"], f"{below}/{event['file']}", event["dtype"])
            elif event["kind"] == "left_out":
                self.left_out.append(OmittedOutput(name=event["name"], reason=event["reason"]))

    def add_outputs(self, paths: list[Path]) -> None:
        """Add files that the program wrote: copied, unpacked (torch files), or listed as left out."""
        packed = {}
        for path in paths:
            name = self._output_name(path)
            if path.suffix.lower() in COPIED_SUFFIXES:
                copy_path = self.into / "files" / name
                copy_path.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, copy_path)
                self._add(name, f"files/{name}")
            elif path.suffix.lower() in TORCH_SUFFIXES:
                packed[name] = path
            else:
                self.left_out.append(OmittedOutput(name=name, reason="file type not supported"))
        if packed:
            self._unpack(packed)

    def add_missing(self, events: list[dict[str, Any]]) -> None:
        """List requested modules that were never called, and an empty recording, as left out."""
        if self.request.modules and not any(line.get("kind") == "tensor" for line in events):
            reason = "no called module has this class or name"
            self.left_out += [OmittedOutput(name=pattern, reason=reason) for pattern in self.request.modules]
        if not self.files:
            self.left_out.append(
                OmittedOutput(name="everything", reason="the program wrote nothing that can be recorded")
            )

    def _unpack(self, packed: Mapping[str, Path]) -> None:
        interpreter = self.request.interpreter or _python_interpreter(self.request.command)
        if interpreter is None:
            reason = "only torch can read this file: pass an interpreter that has torch with --python"
            self.left_out += [OmittedOutput(name=name, reason=reason) for name in packed]
            return
        folder = self.into / "tensors"
        folder.mkdir()
        request = {"files": {name: str(path.resolve()) for name, path in packed.items()}, "folder": str(folder)}
        with scratch_file("request.json", json.dumps(request).encode()) as request_file:
            ended = run(
                [str(interpreter), str(_UNPACK_SCRIPT), str(request_file)], seconds=600, keep_bytes=_MAX_OUTPUT_BYTES
            )
        try:
            response = json.loads(ended.stdout.splitlines()[-1])
        except (ValueError, IndexError):
            error_lines = ended.stderr.decode(errors="replace").strip().splitlines()
            reason = f"could not be unpacked: {error_lines[-1] if error_lines else 'no response'}"
            self.left_out += [OmittedOutput(name=name, reason=reason) for name in packed]
            return
        self.add_tensors(response["tensors"], "tensors")
        self.left_out += [OmittedOutput(name=name, reason=reason) for name, reason in response["failed"].items()]

    def _add(self, name: str, path: str, dtype: str = "") -> None:
        self.files.append(RecordedFile(name=name, path=path, sha256=file_digest(self.into / path), dtype=dtype))

    def _output_name(self, path: Path) -> str:
        """Relative to the output folder, so that recordings of two machines can be compared."""
        several = len(self.request.outputs) > 1
        for number, folder in enumerate(self.request.outputs):
            if path.is_relative_to(folder):
                relative = path.relative_to(folder).as_posix()
                return f"{number}/{relative}" if several else relative
        return path.name


def _create_folder(into: Path) -> None:
    try:
        into.mkdir(parents=True)
    except FileExistsError:
        raise UserError(f"{into} already exists", hint="pass a new folder with --into") from None
    except OSError as error:
        raise UserError(f"--into {into}: {error.strerror}") from error


def _files(folders: tuple[Path, ...], excluded: Path) -> Iterator[Path]:
    """Every regular file below the folders except those in `without`; links are not followed."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink() and not path.resolve().is_relative_to(excluded):
                yield path


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def _python_interpreter(command: tuple[str, ...]) -> Path | None:
    """The program itself if it is a Python interpreter."""
    program = Path(command[0])
    executable = shutil.which(command[0])
    return Path(executable) if executable and program.name.startswith("python") else None
