"""Inspects files in this process: detects the format, then calls its reader.

Readers are third-party code and files are untrusted, so `check` runs this module in a subprocess.
"""

from __future__ import annotations

import stat
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.artifact_report import ArtifactReport, InvalidArtifactError, UnreadableArtifactError
from rocm3d.artifact.formats import HEAD_BYTES, ArtifactFormat, format_by_content, format_by_name
from rocm3d.model.artifact import Artifact, Preview
from rocm3d.model.text import replace_surrogates

if TYPE_CHECKING:
    from rocm3d.model.artifact import ArtifactKind, ArtifactOutcome

_INSTALL_COMMAND = "pip install 'rocm3d[artifacts]'"
_MAX_LINE_LENGTH = 200


def inspect_file(path: Path) -> Artifact:
    """Never raises because of a file's content: every problem becomes part of the result."""
    try:
        file_format, size = _detect_format(path)
    except (OSError, ValueError) as error:
        return _failed_artifact(path, "not_read", f"cannot be opened: {getattr(error, 'strerror', None) or error}")
    except InvalidArtifactError as error:
        return _failed_artifact(path, "bad", str(error), format_by_name(path))
    try:
        report = _read_report(path, file_format)
    except Exception as error:  # noqa: BLE001  (readers raise anything for damaged files)
        return _failed_artifact(path, *_outcome_of_error(error), file_format, size)
    return Artifact(
        path=str(path),
        kind=report.kind,
        format=_format_label(file_format),
        bytes=size,
        outcome="bad" if report.problems else "ok",
        problems=tuple(_one_line(problem) for problem in report.problems),
        metrics=report.metrics,
        unread=tuple(_one_line(part) for part in report.unread),
        preview=Preview(histogram=report.histogram, picture=report.picture),
    )


def _outcome_of_error(error: Exception) -> tuple[ArtifactOutcome, str]:
    """The outcome and its one-line reason: "bad" blames the file, "not_read" blames the reader or a limit."""
    if isinstance(error, InvalidArtifactError):
        return "bad", str(error)
    if isinstance(error, UnreadableArtifactError):
        return "not_read", str(error)
    if isinstance(error, ImportError):
        return "not_read", f"{error.name} is not installed: {_INSTALL_COMMAND}"
    if isinstance(error, MemoryError):
        return "not_read", "reading it exceeds the memory limit"
    return "bad", f"damaged: {type(error).__name__}: {error}"


def _detect_format(path: Path) -> tuple[ArtifactFormat, int]:
    """The format by name and the size in bytes. Raises if the content has another format."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise InvalidArtifactError("not a regular file")
    if not status.st_size:
        raise InvalidArtifactError("empty: 0 bytes")
    with path.open("rb") as file:
        # Complete lines only: patterns for text formats match whole lines.
        head = file.read(HEAD_BYTES)
        head = head[: head.rfind(b"\n") + 1] or head if len(head) == HEAD_BYTES else head + b"\n"
    named_format, content_format = format_by_name(path), format_by_content(head)
    if named_format is None:
        raise InvalidArtifactError(
            "unknown file type; the content is "
            f"{content_format.name_with_article if content_format else 'not recognised'}"
        )
    if named_format is content_format or (not named_format.is_readable and content_format is None):
        return named_format, status.st_size
    if content_format is not None and content_format.name == named_format.container:
        return named_format, status.st_size
    if content_format is None:
        raise InvalidArtifactError(f"damaged: the first bytes are not those of a {path.suffix.lower()} file")
    raise InvalidArtifactError(f"wrong extension: {content_format.name_with_article}")


def _read_report(path: Path, file_format: ArtifactFormat) -> ArtifactReport:
    """Imports only the reader that the format needs."""
    if not file_format.is_readable:
        raise UnreadableArtifactError(f"{file_format.name_with_article} is not supported")
    if file_format.name in ("NPY", "zip archive"):
        from rocm3d.artifact import number_file

        return number_file.inspect_npy(path) if file_format.name == "NPY" else number_file.inspect_npz(path)
    if file_format.kind == "image":
        from rocm3d.artifact import image

        return image.inspect(path)
    if file_format.kind == "video":
        from rocm3d.artifact import video

        return video.inspect(path, file_format.name)
    return _read_geometry(path, file_format)


def _read_geometry(path: Path, file_format: ArtifactFormat) -> ArtifactReport:
    from rocm3d.artifact import gltf, obj, ply

    readers = {"GLB": gltf.inspect_glb, "glTF": gltf.inspect_gltf, "OBJ": obj.inspect, "PLY": ply.inspect}
    return readers[file_format.name](path)


def _failed_artifact(
    path: Path, outcome: ArtifactOutcome, reason: str, file_format: ArtifactFormat | None = None, size: int = 0
) -> Artifact:
    kind: ArtifactKind = (file_format.kind if file_format else None) or "unknown"
    name = _format_label(file_format) if file_format and size else ""
    return Artifact(path=str(path), kind=kind, format=name, bytes=size, outcome=outcome, problems=(_one_line(reason),))


def _format_label(file_format: ArtifactFormat) -> str:
    """Arrays are called by their suffix: users know .npz, not "zip archive"."""
    return file_format.suffixes[0].removeprefix(".").upper() if file_format.kind == "arrays" else file_format.name


def _one_line(text: str) -> str:
    """Collapse white space and cut at the maximum length. JSON may hold lone surrogates, which cannot be encoded."""
    short = " ".join(replace_surrogates(text).split())
    return short if len(short) <= _MAX_LINE_LENGTH else f"{short[:_MAX_LINE_LENGTH]}..."


def main() -> None:
    """Arguments: memory limit in bytes, seconds after which no file is started, files. Prints one line per file."""
    memory_bytes, deadline = int(sys.argv[1]), time.monotonic() + float(sys.argv[2])
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    except (ImportError, ValueError, OSError):
        # Not available on this system: only the time limit applies.
        pass
    for name in sys.argv[3:]:
        if time.monotonic() > deadline:
            break
        print(inspect_file(Path(name)).model_dump_json(), flush=True)  # noqa: T201  (the output of this process)
