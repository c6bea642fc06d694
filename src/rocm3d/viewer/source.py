"""What the user passed to `rocm3d view`: a file, or a folder with its drawable files."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.check import check, check_all
from rocm3d.artifact.formats import format_by_name
from rocm3d.model.errors import UserError
from rocm3d.viewer.open import KINDS, is_drawable, refuse_undrawable

if TYPE_CHECKING:
    from rocm3d.model.artifact import Artifact

MAX_SOURCES = 2
# Limits for large folders: files visited, and files checked (the newest first).
_MAX_FILES, _MAX_CHECKED = 100_000, 200
# By its name alone a PLY may hold anything, and a .npz may hold points.
_CANDIDATE_KINDS = (*KINDS, "unknown", "arrays")


@dataclass(frozen=True)
class ViewSource:
    """`first` is shown at the start. `choices` includes it; a file has no other choices."""

    path: Path
    first: Artifact
    choices: tuple[Artifact, ...]

    @property
    def choices_by_name(self) -> dict[str, Artifact]:
        """The choices by their path relative to the folder, as the list shows them."""
        root = self.path if self.path.is_dir() else self.path.parent
        return {Path(item.path).relative_to(root).as_posix(): item for item in self.choices}


def open_sources(paths: list[Path]) -> list[ViewSource]:
    """One or two sources. A second folder starts with the file of the same name as the first, if there is one."""
    if len(paths) > MAX_SOURCES:
        raise UserError(f"{len(paths)} paths given; rocm3d view shows one, or two side by side")
    opened: list[ViewSource] = []
    for path in paths:
        if path.is_dir():
            artifacts = find_drawable(path)
            first = with_name_of(artifacts, opened[0].first.path) if opened else artifacts[0]
            opened.append(ViewSource(path, first, tuple(artifacts)))
            continue
        if not path.exists():
            raise UserError(f"{path} does not exist")
        artifact = check(path)
        refuse_undrawable(artifact)
        opened.append(ViewSource(path, artifact, (artifact,)))
    return opened


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
        for path in (Path(parent) / name for name in files):
            file_format = format_by_name(path)
            is_candidate = file_format is not None and file_format.kind in _CANDIDATE_KINDS
            if is_candidate and path.is_file() and not path.is_symlink():
                paths.append(path)
        if walked > _MAX_FILES:
            break
    return sorted(paths, key=lambda path: (-path.stat().st_mtime, str(path)))[:_MAX_CHECKED]
