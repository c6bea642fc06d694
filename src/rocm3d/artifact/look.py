"""Looks at one file in this process: what it is by its content, and what its reader says of it.

Readers are other people's code and files come from anywhere: `check` starts this in a process of its own.
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
    """Never raises for what a file holds: whatever is wrong with it is its verdict."""
    try:
        form, size = _format(path)
    except (OSError, ValueError) as error:
        return _refused(path, "not_read", f"cannot be opened: {getattr(error, 'strerror', None) or error}")
    except Unfit as error:
        return _refused(path, "bad", str(error), by_name(path))
    try:
        sight = _sight(path, form)
    except Exception as error:  # noqa: BLE001  (a damaged file makes readers fail in every way there is)
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
    """Whether the file is at fault or we are, and the line that says so."""
    if isinstance(error, Unfit):
        return "bad", str(error)
    if isinstance(error, Unread):
        return "not_read", str(error)
    if isinstance(error, ImportError):
        return "not_read", f"{error.name} is not installed: {_INSTALL}"
    if isinstance(error, MemoryError):
        return "not_read", "takes more memory than is allowed for it"
    return "bad", f"damaged: {type(error).__name__}: {error}"


def _format(path: Path) -> tuple[Format, int]:
    """The format by name, where the content agrees with it."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise Unfit("is no file")
    if not about.st_size:
        raise Unfit("empty: 0 bytes")
    with path.open("rb") as file:
        # Whole lines: a text is not known by half of one.
        head = file.read(HEAD)
        head = head[: head.rfind(b"\n") + 1] or head if len(head) == HEAD else head + b"\n"
    promised, found = by_name(path), by_content(head)
    if promised is None:
        raise Unfit(f"no kind of artifact that is known; its content is {found.called if found else 'not known'}")
    if promised is found or (not promised.read and found is None):
        return promised, about.st_size
    if found is not None and found.name == promised.written_as:
        return promised, about.st_size
    if found is None:
        raise Unfit(f"damaged: it does not begin as a {path.suffix.lower()} does")
    raise Unfit(f"wrong extension: {found.called}")


def _sight(path: Path, form: Format) -> Sight:
    """The reader of a format is loaded for it alone."""
    if not form.read:
        raise Unread(f"{form.called} is not read here")
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
    """By its ending where it has one: a .npz is a zip archive to those who misname it."""
    return form.endings[0].removeprefix(".").upper() if form.kind == "arrays" else form.name


def _line(text: str) -> str:
    """One line, whatever a reader or a file says."""
    short = " ".join(text.split())
    return short if len(short) <= _LONGEST else f"{short[:_LONGEST]}..."


def main() -> None:
    """Print a line for each file that is named, within so many bytes of memory; none is begun after so many seconds."""
    memory, until = int(sys.argv[1]), time.monotonic() + float(sys.argv[2])
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    except (ImportError, ValueError, OSError):
        # Not on this system: the time limit is left.
        pass
    for name in sys.argv[3:]:
        if time.monotonic() > until:
            break
        print(look(Path(name)).model_dump_json(), flush=True)  # noqa: T201  (this is the answer)
