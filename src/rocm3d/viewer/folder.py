"""Finds drawable artifacts in a folder, such as an evidence bundle, best first."""

from __future__ import annotations

import os
from pathlib import Path

from rocm3d.artifact.check import check_all
from rocm3d.artifact.formats import format_by_name
from rocm3d.model.artifact import Artifact
from rocm3d.model.failure import UserError
from rocm3d.viewer.open import KINDS, drawable

# Limits for large folders: files visited, and files checked (the newest first).
_WALKED, _OPENED = 100_000, 200
# By its name alone a PLY may hold anything, and a .npz may hold points.
_WORTH = (*KINDS, "unknown", "arrays")


def found(folder: Path) -> list[Artifact]:
    """All drawable files: without problems first, splats before meshes before points, newer before older."""
    paths = _candidates(folder)
    ages = {str(path): path.stat().st_mtime for path in paths}
    looked = check_all(paths)
    fit = [item for item in looked if drawable(item)]
    if not fit:
        reasons = [f"{Path(item.path).name}: {item.reason}" for item in looked if item.reason]
        raise UserError(f"{folder} has no splat, mesh or point cloud", hint="; ".join(reasons[:3]))
    return sorted(fit, key=lambda item: (item.outcome != "ok", KINDS.index(item.kind), -ages[item.path], item.path))


def like(items: list[Artifact], other: str) -> Artifact:
    """The artifact with the same file name as `other`, or else the first one."""
    return next((item for item in items if Path(item.path).name == Path(other).name), items[0])


def _candidates(folder: Path) -> list[Path]:
    """Files that may be drawable by their names. Links and hidden folders are skipped."""
    paths, walked = [], 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        walked += len(files)
        for name in files:
            path = Path(place) / name
            form = format_by_name(path)
            if form is not None and form.kind in _WORTH and path.is_file() and not path.is_symlink():
                paths.append(path)
        if walked > _WALKED:
            break
    return sorted(paths, key=lambda path: (-path.stat().st_mtime, str(path)))[:_OPENED]
