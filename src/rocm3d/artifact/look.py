"""Inspects files in this process: detects the format, then calls its reader.

Readers are third-party code and files are untrusted, so `check` runs this module in a subprocess.
"""

from __future__ import annotations

import stat
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.formats import HEAD, Format, by_content, by_name
from rocm3d.artifact.sight import Sight, Unfit, Unread
from rocm3d.model.artifact import Artifact, Preview

if TYPE_CHECKING:
    from rocm3d.model.artifact import ArtifactOutcome, Kind

_INSTALL = "pip install 'rocm3d[artifacts]'"
_LONGEST = 200


def look(path: Path) -> Artifact:
    """Never raises because of a file's content: every problem becomes part of the result."""
    try:
        form, size = _format(path)
    except (OSError, ValueError) as error:
        return _refused(path, "not_read", f"cannot be opened: {getattr(error, 'strerror', None) or error}")
    except Unfit as error:
        return _refused(path, "bad", str(error), by_name(path))
    try:
        sight = _sight(path, form)
    except Exception as error:  # noqa: BLE001  (readers raise anything for damaged files)
        return _refused(path, *_blame(error), form, size)
    return Artifact(
        path=str(path),
        kind=sight.kind,
        format=_label(form),
        bytes=size,
        outcome="bad" if sight.problems else "ok",
        problems=tuple(_line(problem) for problem in sight.problems),
        metrics=sight.metrics,
        unread=tuple(_line(part) for part in sight.unread),
        preview=Preview(histogram=sight.histogram, picture=sight.picture),
    )


def _blame(error: Exception) -> tuple[ArtifactOutcome, str]:
    """The outcome and its one-line reason: "bad" blames the file, "not_read" blames the reader or a limit."""
    if isinstance(error, Unfit):
        return "bad", str(error)
    if isinstance(error, Unread):
        return "not_read", str(error)
    if isinstance(error, ImportError):
        return "not_read", f"{error.name} is not installed: {_INSTALL}"
    if isinstance(error, MemoryError):
        return "not_read", "reading it exceeds the memory limit"
    return "bad", f"damaged: {type(error).__name__}: {error}"


def _format(path: Path) -> tuple[Format, int]:
    """The format by name and the size in bytes. Raises if the content has another format."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise Unfit("not a regular file")
    if not about.st_size:
        raise Unfit("empty: 0 bytes")
    with path.open("rb") as file:
        # Complete lines only: patterns for text formats match whole lines.
        head = file.read(HEAD)
        head = head[: head.rfind(b"\n") + 1] or head if len(head) == HEAD else head + b"\n"
    promised, found = by_name(path), by_content(head)
    if promised is None:
        raise Unfit(f"unknown file type; the content is {found.called if found else 'not recognised'}")
    if promised is found or (not promised.read and found is None):
        return promised, about.st_size
    if found is not None and found.name == promised.written_as:
        return promised, about.st_size
    if found is None:
        raise Unfit(f"damaged: the first bytes are not those of a {path.suffix.lower()} file")
    raise Unfit(f"wrong extension: {found.called}")


def _sight(path: Path, form: Format) -> Sight:
    """Imports only the reader that the format needs."""
    if not form.read:
        raise Unread(f"{form.called} is not supported")
    if form.name in ("NPY", "zip archive"):
        from rocm3d.artifact import number_file

        return number_file.look_npy(path) if form.name == "NPY" else number_file.look_npz(path)
    if form.kind == "image":
        from rocm3d.artifact import image

        return image.look(path)
    if form.kind == "video":
        from rocm3d.artifact import video

        return video.look(path, form.name)
    return _shape(path, form)


def _shape(path: Path, form: Format) -> Sight:
    from rocm3d.artifact import glb, gltf, obj, ply

    readers = {"GLB": glb.look, "glTF": gltf.look, "OBJ": obj.look, "PLY": ply.look}
    return readers[form.name](path)


def _refused(path: Path, outcome: ArtifactOutcome, reason: str, form: Format | None = None, size: int = 0) -> Artifact:
    kind: Kind = (form.kind if form else None) or "unknown"
    name = _label(form) if form and size else ""
    return Artifact(path=str(path), kind=kind, format=name, bytes=size, outcome=outcome, problems=(_line(reason),))


def _label(form: Format) -> str:
    """Arrays are called by their suffix: users know .npz, not "zip archive"."""
    return form.endings[0].removeprefix(".").upper() if form.kind == "arrays" else form.name


def _line(text: str) -> str:
    """Collapse white space and cut at the maximum length."""
    short = " ".join(text.split())
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}..."


def main() -> None:
    """Arguments: memory limit in bytes, seconds after which no file is started, files. Prints one line per file."""
    memory, until = int(sys.argv[1]), time.monotonic() + float(sys.argv[2])
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    except (ImportError, ValueError, OSError):
        # Not available on this system: only the time limit applies.
        pass
    for name in sys.argv[3:]:
        if time.monotonic() > until:
            break
        print(look(Path(name)).model_dump_json(), flush=True)  # noqa: T201  (the output of this process)
