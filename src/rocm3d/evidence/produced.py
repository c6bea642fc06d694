"""Selects the artifacts that are copied into the bundle of a run, up to a size limit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.evidence.folder import is_inside

if TYPE_CHECKING:
    from rocm3d.model.run import RunRecord

FOLDER = "files"
MOST = 512 * 1024 * 1024


def produced(run: RunRecord, root: Path, most: int = MOST) -> dict[str, Path]:
    """Source paths by their path in the bundle, smallest files first. Paths of the run are relative to `root`.

    Files beyond the limit are identified by their digest in the record.
    """
    sizes = {item.path: item.bytes for item in run.artifacts if is_inside(f"{FOLDER}/{item.path}")}
    found, taken = dict[str, Path](), 0
    for path, size in sorted(sizes.items(), key=lambda item: (item[1], item[0])):
        place = root / path
        taken += size
        if taken > most:
            break
        if place.is_file() and place.resolve().is_relative_to(root.resolve()):
            found[f"{FOLDER}/{path}"] = place
    return found
