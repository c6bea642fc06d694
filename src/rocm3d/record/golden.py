"""Runs a program and records its numeric results: files that it wrote, and outputs of its torch modules.

The program needs no changes. A recording is a folder with these files and recording.json, which has their digests.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocm3d.model.failure import UserError
from rocm3d.model.golden import OmittedOutput, RecordedFile, Recording
from rocm3d.record.startup import reported, with_hook
from rocm3d.workspace.file_digest import file_digest
from rocm3d.workspace.process import run
from rocm3d.workspace.scratch import scratch_file

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "recording.json"
READABLE = (".npy", ".npz", ".ply", ".json")
TORCH = (".pt", ".pth", ".ckpt")
_UNPACK = Path(__file__).parents[1] / "payload" / "unpack_tensors.py"
_KEPT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Wanted:
    """What to run and record: files below `outputs`, and the outputs of torch modules whose name matches a pattern."""

    command: tuple[str, ...]
    outputs: tuple[Path, ...] = ()
    modules: tuple[str, ...] = ()
    calls: int = 1
    seed: int | None = None
    seconds: float = 3600.0
    interpreter: Path | None = None


def record(wanted: Wanted, into: Path, machine: str) -> Recording:
    """Run the program and record into a new folder. A failed program is recorded too, with its exit code."""
    _make(into)
    into = into.resolve()  # the program may change the working directory
    before = {path: _stamp(path) for path in _files(wanted.outputs, into)}
    report, modules = into / "report.jsonl", into / "modules"
    modules.mkdir()
    asked = {"folder": str(modules), "modules": wanted.modules, "calls": wanted.calls, "seed": wanted.seed}
    hash_seed = {} if wanted.seed is None else {"PYTHONHASHSEED": str(wanted.seed % 2**32)}
    env = with_hook(report, ROCM3D_GOLDEN=json.dumps(asked), **hash_seed)
    ended = run(wanted.command, env=env, seconds=wanted.seconds, keep_bytes=_KEPT_BYTES)
    (into / "output.txt").write_bytes(ended.stdout + ended.stderr)
    lines = reported(report)
    kept = _Kept(into, wanted)
    kept.tensors(lines, "modules")
    kept.outputs([path for path in _files(wanted.outputs, into) if before.get(path) != _stamp(path)])
    kept.missing(lines)
    recording = Recording(
        command=wanted.command,
        exit_code=ended.code,
        seed=wanted.seed,
        machine=machine,
        environment=next((line["environment"] for line in lines if line.get("kind") == "environment"), {}),
        files=tuple(sorted(kept.files, key=lambda item: item.name)),
        left_out=tuple(kept.left_out),
    )
    (into / NAME).write_text(recording.to_json(), encoding="utf-8")
    return recording


def read(folder: Path) -> Recording:
    """Load a recording and check the digests of its files. Raises UserError if a file changed or the program failed."""
    place = folder / NAME
    if not place.is_file():
        raise UserError(f"{folder} has no {NAME}", hint="create a recording with `rocm3d golden record`")
    recording = Recording.from_json(place.read_text(encoding="utf-8"), str(place))
    for item in recording.files:
        path = folder / item.path
        if (
            not path.resolve().is_relative_to(folder.resolve())
            or not path.is_file()
            or file_digest(path) != item.sha256
        ):
            raise UserError(f"{path} has changed since it was recorded", hint="record it again")
    if recording.exit_code != 0:
        raise UserError(f"{folder} is a recording of a program that failed", hint=f"see {folder / 'output.txt'}")
    return recording


class _Kept:
    """Collects the files of a recording."""

    def __init__(self, into: Path, wanted: Wanted) -> None:
        self.into, self.wanted = into, wanted
        self.files: list[RecordedFile] = []
        self.left_out: list[OmittedOutput] = []

    def tensors(self, lines: list[dict[str, Any]], below: str) -> None:
        """Add .npy files that a payload wrote to the folder `below`."""
        for line in lines:
            if line.get("kind", "tensor") == "tensor":
                self._add(line["name"], f"{below}/{line['file']}", line["dtype"])
            elif line["kind"] == "left_out":
                self.left_out.append(OmittedOutput(name=line["name"], reason=line["reason"]))

    def outputs(self, paths: list[Path]) -> None:
        """Add files that the program wrote: copied, unpacked (torch files), or listed as left out."""
        packed = {}
        for path in paths:
            name = self._name(path)
            if path.suffix.lower() in READABLE:
                place = self.into / "files" / name
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)
                self._add(name, f"files/{name}")
            elif path.suffix.lower() in TORCH:
                packed[name] = path
            else:
                self.left_out.append(OmittedOutput(name=name, reason="file type not supported"))
        if packed:
            self._unpack(packed)

    def missing(self, lines: list[dict[str, Any]]) -> None:
        """List requested modules that were never called, and an empty recording, as left out."""
        if self.wanted.modules and not any(line.get("kind") == "tensor" for line in lines):
            reason = "no called module has this class or name"
            self.left_out += [OmittedOutput(name=pattern, reason=reason) for pattern in self.wanted.modules]
        if not self.files:
            self.left_out.append(OmittedOutput(name="everything", reason="the program wrote nothing that can be recorded"))

    def _unpack(self, packed: Mapping[str, Path]) -> None:
        interpreter = self.wanted.interpreter or _python_of(self.wanted.command)
        if interpreter is None:
            reason = "only torch can read this file: pass an interpreter that has torch with --python"
            self.left_out += [OmittedOutput(name=name, reason=reason) for name in packed]
            return
        folder = self.into / "tensors"
        folder.mkdir()
        request = {"files": {name: str(path.resolve()) for name, path in packed.items()}, "folder": str(folder)}
        with scratch_file("request.json", json.dumps(request).encode()) as note:
            ended = run([str(interpreter), str(_UNPACK), str(note)], seconds=600, keep_bytes=_KEPT_BYTES)
        try:
            answer = json.loads(ended.stdout.splitlines()[-1])
        except (ValueError, IndexError):
            said = ended.stderr.decode(errors="replace").strip().splitlines()
            reason = f"could not be unpacked: {said[-1] if said else 'no response'}"
            self.left_out += [OmittedOutput(name=name, reason=reason) for name in packed]
            return
        self.tensors(answer["tensors"], "tensors")
        self.left_out += [OmittedOutput(name=name, reason=reason) for name, reason in answer["failed"].items()]

    def _add(self, name: str, path: str, dtype: str = "") -> None:
        self.files.append(RecordedFile(name=name, path=path, sha256=file_digest(self.into / path), dtype=dtype))

    def _name(self, path: Path) -> str:
        """Relative to the output folder, so that recordings of two machines can be compared."""
        several = len(self.wanted.outputs) > 1
        for number, folder in enumerate(self.wanted.outputs):
            if path.is_relative_to(folder):
                inner = path.relative_to(folder).as_posix()
                return f"{number}/{inner}" if several else inner
        return path.name


def _make(into: Path) -> None:
    try:
        into.mkdir(parents=True)
    except FileExistsError:
        raise UserError(f"{into} already exists", hint="pass a new folder with --into") from None
    except OSError as error:
        raise UserError(f"--into {into}: {error.strerror}") from error


def _files(folders: tuple[Path, ...], without: Path) -> Iterator[Path]:
    """Every regular file below the folders except those in `without`; links are not followed."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink() and not path.resolve().is_relative_to(without):
                yield path


def _stamp(path: Path) -> tuple[int, int]:
    about = path.stat()
    return about.st_mtime_ns, about.st_size


def _python_of(command: tuple[str, ...]) -> Path | None:
    """The program itself if it is a Python interpreter."""
    first = Path(command[0])
    found = shutil.which(command[0])
    return Path(found) if found and first.name.startswith("python") else None
