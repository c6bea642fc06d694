"""Finds drawable artifacts in a folder, such as an evidence bundle, best first."""

from __future__ import annotations

import os
from pathlib import Path

from rocm3d.artifact.check import check_all
from rocm3d.artifact.formats import format_by_name
from rocm3d.model.artifact import Artifact
from rocm3d.model.errors import UserError
from rocm3d.viewer.open import KINDS, is_drawable

# Limits for large folders: files visited, and files checked (the newest first).
_MAX_FILES, _MAX_CHECKED = 100_000, 200
# By its name alone a PLY may hold anything, and a .npz may hold points.
_CANDIDATE_KINDS = (*KINDS, "unknown", "arrays")


def find_drawable(folder: Path) -> list[Artifact]:
    """All drawable files: without problems first, splats before meshes before points, newer before older."""
    paths = _candidates(folder)
    ages = {str(path): path.stat().st_mtime for path in paths}
    artifacts = check_all(paths)
    drawable_artifacts = [item for item in artifacts if is_drawable(item)]
    if not drawable_artifacts:
        reasons = [f"{Path(item.path).name}: {item.reason}" for item in artifacts if item.reason]
        raise UserError(f"{folder} has no splat, mesh or point cloud", hint="; ".join(reasons[:3]))
    return sorted(
        drawable_artifacts, key=lambda item: (item.outcome != "ok", KINDS.index(item.kind), -ages[item.path], item.path)
    )


def with_name_of(artifacts: list[Artifact], other: str) -> Artifact:
    """The artifact with the same file name as `other`, or else the first one."""
    return next((item for item in artifacts if Path(item.path).name == Path(other).name), artifacts[0])


def _candidates(folder: Path) -> list[Path]:
    """Files that may be drawable by their names. Links and hidden folders are skipped."""
    paths, walked = [], 0
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        walked += len(files)
        for name in files:
            path = Path(parent) / name
            file_format = format_by_name(path)
            if (
                file_format is not None
                and file_format.kind in _CANDIDATE_KINDS
                and path.is_file()
                and not path.is_symlink()
            ):
                paths.append(path)
        if walked > _MAX_FILES:
            break
    return sorted(paths, key=lambda path: (-path.stat().st_mtime, str(path)))[:_MAX_CHECKED]
