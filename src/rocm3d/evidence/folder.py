"""A bundle as a folder: written whole or not at all, and the same bytes for the same inputs.

evidence.json names every other file with its digest; evidence.sha256 holds that of evidence.json, as sha256sum does.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.evidence.chain import chain
from rocm3d.evidence.stages import FOLDER, Stages
from rocm3d.model.bundle import Bundle
from rocm3d.model.evidence import Sealed
from rocm3d.model.failure import UserError
from rocm3d.workspace.file_digest import file_digest

if TYPE_CHECKING:
    from rocm3d.model.run import RunRecord

NAME, SEAL, MARK = "evidence.json", "evidence.sha256", "UNFINISHED"
_HINT = "make it anew with `rocm3d run`"


@dataclass(frozen=True)
class Contents:
    """What goes into a bundle: documents of stages by file name, runs, and any other files by their place in it."""

    repository: str = ""
    documents: Mapping[str, bytes] = field(default_factory=dict)
    runs: tuple[RunRecord, ...] = ()
    files: Mapping[str, Path | bytes] = field(default_factory=dict)


def write(contents: Contents, into: Path) -> Bundle:
    """Make the new folder `into`. Until all of it is there it has another name and is marked as unfinished."""
    if into.exists() or into.is_symlink():
        raise UserError(f"{into} is there already", hint="name a new folder")
    stages = Stages(contents.documents)
    try:
        into.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=into.parent, prefix=f"{into.name}-", suffix=".partial"))
    except OSError as error:
        raise UserError(f"cannot write {into}: {error.strerror}") from error
    try:
        begin(unfinished)
        bundle = _sealed(unfinished, contents, stages)
        unfinished.chmod(0o777 & ~_umask())
        unfinished.rename(into)
    except OSError as error:
        raise UserError(f"cannot write {into}: {error.strerror}") from error
    finally:
        # Gone after the rename; still there if anything failed.
        shutil.rmtree(unfinished, ignore_errors=True)
    return bundle


def begin(folder: Path) -> None:
    """Mark a folder as a bundle in the making, for one that fills while a program runs. `seal` ends it."""
    (folder / MARK).touch()


def seal(folder: Path, contents: Contents) -> Bundle:
    """Make a bundle of a folder as it lies, with the contents added. Until this returns it is half-written."""
    try:
        return _sealed(folder, contents, Stages(contents.documents))
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}") from error


def read(folder: Path) -> tuple[Bundle, bytes]:
    """The bundle and the bytes of its evidence.json, or one line saying why it is none."""
    return Bundle.from_json((data := read_bytes(folder)).decode("utf-8", "replace"), str(folder / NAME)), data


def read_bytes(folder: Path) -> bytes:
    """evidence.json of a folder that is a whole bundle."""
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder", hint="name a bundle of evidence")
    if (folder / MARK).exists():
        raise UserError(f"{folder} is half-written: its making was cut short", hint=_HINT)
    if not (folder / NAME).is_file():
        raise UserError(f"{folder} has no {NAME}: it is no bundle of evidence", hint=_HINT)
    if not (folder / SEAL).is_file():
        if (folder / "inventory.json").is_file():
            raise UserError(f"{folder} holds the documents of a port and is no bundle", hint="see `rocm3d report`")
        raise UserError(f"{folder} is half-written: {SEAL} is missing", hint=_HINT)
    try:
        return (folder / NAME).read_bytes()
    except OSError as error:
        raise UserError(f"{folder / NAME} cannot be read: {error.strerror}") from error


def is_inside(name: str) -> bool:
    """Whether a name stays in the folder and is not one of ours."""
    parts = PurePosixPath(name).parts
    sound = bool(parts) and not name.startswith("/") and ".." not in parts and "\0" not in name and "\\" not in name
    return sound and PurePosixPath(name).as_posix() == name and name not in (NAME, SEAL, MARK)


def _sealed(folder: Path, contents: Contents, stages: Stages) -> Bundle:
    """The digest of evidence.json comes after everything else, and the mark goes after that."""
    _fill(folder, contents)
    runs = tuple(sorted(contents.runs, key=lambda run: (run.name, run.started)))
    bundle = Bundle(
        repository=contents.repository,
        stages=stages.said(),
        verdicts=stages.verdicts(),
        tally=stages.tally(),
        runs=runs,
        chains=tuple(chain(run) for run in runs or (None,)),
        files=tuple(Sealed(path=name, sha256=file_digest(folder / name)) for name in _names(folder)),
    )
    data = bundle.to_json().encode()
    (folder / NAME).write_bytes(data)
    (folder / SEAL).write_text(f"{hashlib.sha256(data).hexdigest()}  {NAME}\n", encoding="ascii")
    (folder / MARK).unlink(missing_ok=True)
    return bundle


def _names(folder: Path) -> list[str]:
    """Every file of the folder but our own; a link would not be the same elsewhere."""
    found = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise UserError(f"{path} is a link or a device: a bundle holds files alone")
        if path.is_file() and name not in (NAME, SEAL, MARK):
            found.append(name)
    return sorted(found)


def _fill(folder: Path, contents: Contents) -> None:
    documents = {f"{FOLDER}/{name}": data for name, data in contents.documents.items()}
    for name, source in sorted({**contents.files, **documents}.items()):
        if not is_inside(name):
            raise UserError(f"refusing to put {name!r} into a bundle: it leads out of it or takes a name of ours")
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(source, bytes):
            place.write_bytes(source)
        else:
            shutil.copyfile(source, place)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
