"""Loads a drawable shape from a file, or raises with the reason of the artifact check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.check import check
from rocm3d.artifact.sight import InvalidArtifactError
from rocm3d.model.failure import MachineError, UserError
from rocm3d.viewer import cloud, gaussians, mesh
from rocm3d.viewer.shape import Shape

if TYPE_CHECKING:
    from rocm3d.model.artifact import Artifact
    from rocm3d.viewer.shape import Up

INSTALL = 'pip install "rocm3d[view]"'
KINDS = ("splat", "mesh", "points")
# Browsers get slow above the first limit; software rendering for screenshots above the second.
MOST, MOST_IN_SOFTWARE = 1_000_000, 100_000
# The metric that holds the number of elements, by kind.
_COUNT = {"splat": "gaussians", "mesh": "vertices", "points": "points"}
# Prefixes of problems that leave nothing to see; other problems become notes of the picture.
_UNSEEN = ("empty:", "all ", "invisible:", "collapsed:", "no faces:", "degenerate: none")


def need_packages() -> None:
    """Raise if the extra `view` is not installed."""
    try:
        import numpy  # noqa: F401
        import PIL  # noqa: F401
        import plyfile  # noqa: F401
        import trimesh  # noqa: F401
        import viser  # noqa: F401
    except ImportError as error:
        raise MachineError(f"{error.name} is not installed; rocm3d needs it to show artifacts", hint=INSTALL) from error


def drawable(artifact: Artifact) -> bool:
    """Whether there is anything to see. A file with problems may still be drawable."""
    if artifact.kind not in KINDS or not artifact.metrics:
        return False
    return not artifact.reason.startswith(_UNSEEN) and artifact.metrics.get(_COUNT[artifact.kind], 0) > 0


def refuse(artifact: Artifact) -> None:
    """Raise with the reason if a file cannot be drawn."""
    if drawable(artifact):
        return
    if artifact.kind in KINDS or artifact.reason:
        raise UserError(f"{artifact.path}: {artifact.reason or 'nothing to draw'}")
    raise UserError(
        f"{artifact.path} is not a splat, mesh or point cloud ({artifact.kind})",
        hint="supported: PLY, GLB, glTF, OBJ, or a .npz with points",
    )


def shape(path: Path, up: Up | None = None, most: int = MOST, artifact: Artifact | None = None) -> Shape:
    """Check a file in a subprocess, then load it. `artifact` is the result of an earlier check."""
    if artifact is None:
        if not path.is_file():
            raise UserError(f"{path} is not a file" if path.exists() else f"{path} does not exist")
        artifact = check(path)
    refuse(artifact)
    broken, notes = int(artifact.metrics.get("not_finite", 0)), list(artifact.problems)
    try:
        if artifact.kind == "splat":
            form, told = gaussians.read(path, most)
            return Shape(path, artifact, form, up or guessed_up(artifact), (*notes, *told))
        if artifact.kind == "points":
            points, told = cloud.read(path, most)
            return Shape(path, artifact, points, up or guessed_up(artifact), (*notes, *told))
        return Shape(path, artifact, mesh.read(path, broken=broken > 0), up or guessed_up(artifact), tuple(notes))
    except InvalidArtifactError as error:
        raise UserError(f"{path}: {error}") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error


def guessed_up(artifact: Artifact) -> Up:
    """Only glTF defines an up axis. Splats and points usually have camera coordinates, with y down."""
    if artifact.format in ("GLB", "glTF", "OBJ"):
        return "+y"
    return "+z" if artifact.kind == "mesh" else "-y"
