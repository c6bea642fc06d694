"""Selects the artifacts that are copied into the bundle of a run, up to a size limit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.evidence.folder import is_inside

if TYPE_CHECKING:
    from rocm3d.model.run import RunRecord

FILES_FOLDER = "files"
MAX_BYTES = 512 * 1024 * 1024


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
