"""Which files of a run go into its bundle: its artifacts, as long as they are not too large. All others are named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.evidence.folder import is_inside

if TYPE_CHECKING:
    from rocm3d.model.run import RunRecord

FOLDER = "files"
MOST = 512 * 1024 * 1024


def produced(run: RunRecord, root: Path, most: int = MOST) -> dict[str, Path]:
    """By their place in the bundle, the small ones first. `root` is the folder that the run names them from.

    What does not fit stands in the record with its digest, so that it can still be told from another.
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
