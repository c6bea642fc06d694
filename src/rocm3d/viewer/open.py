"""Loads a drawable shape from a file, or raises with the reason of the artifact check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.artifact_report import InvalidArtifactError
from rocm3d.artifact.check import check
from rocm3d.model.errors import MachineError, UserError
from rocm3d.viewer import cloud, gaussians, mesh
from rocm3d.viewer.shape import Shape

if TYPE_CHECKING:
    from rocm3d.model.artifact import Artifact
    from rocm3d.viewer.shape import Up

INSTALL_COMMAND = 'pip install "rocm3d[view]"'
KINDS = ("splat", "mesh", "points")
# Browsers get slow above the first limit; software rendering for screenshots above the second.
MAX_IN_BROWSER, MAX_IN_SOFTWARE = 1_000_000, 100_000
# The metric that holds the number of elements, by kind.
_COUNT_METRIC = {"splat": "gaussians", "mesh": "vertices", "points": "points"}
# Prefixes of problems that leave nothing to see; other problems become notes of the picture.
_INVISIBLE_PROBLEMS = ("empty:", "all ", "invisible:", "collapsed:", "no faces:", "degenerate: none")


def require_packages() -> None:
    """Raise if the extra `view` is not installed."""
    try:
        import numpy  # noqa: F401
        import PIL  # noqa: F401
        import plyfile  # noqa: F401
        import trimesh  # noqa: F401
        import viser  # noqa: F401
    except ImportError as error:
        raise MachineError(
            f"{error.name} is not installed; rocm3d needs it to show artifacts", hint=INSTALL_COMMAND
        ) from error


def is_drawable(artifact: Artifact) -> bool:
    """Whether there is anything to see. A file with problems may still be drawable."""
    if artifact.kind not in KINDS or not artifact.metrics:
        return False
    return (
        not artifact.reason.startswith(_INVISIBLE_PROBLEMS)
        and artifact.metrics.get(_COUNT_METRIC[artifact.kind], 0) > 0
    )


def refuse_undrawable(artifact: Artifact) -> None:
    """Raise with the reason if a file cannot be drawn."""
    if is_drawable(artifact):
        return
    if artifact.kind in KINDS or artifact.reason:
        raise UserError(f"{artifact.path}: {artifact.reason or 'nothing to draw'}")
    raise UserError(
        f"{artifact.path} is not a splat, mesh or point cloud ({artifact.kind})",
        hint="supported: PLY, GLB, glTF, OBJ, or a .npz with points",
    )


def load_shape(
    path: Path, up: Up | None = None, limit: int = MAX_IN_BROWSER, artifact: Artifact | None = None
) -> Shape:
    """Check a file in a subprocess, then load it. `artifact` is the result of an earlier check."""
    if artifact is None:
        if not path.is_file():
            raise UserError(f"{path} is not a file" if path.exists() else f"{path} does not exist")
        artifact = check(path)
    refuse_undrawable(artifact)
    nonfinite, notes = int(artifact.metrics.get("not_finite", 0)), list(artifact.problems)
    try:
        if artifact.kind == "splat":
            form, sampling_notes = gaussians.read(path, limit)
            return Shape(path, artifact, form, up or guess_up_axis(artifact), (*notes, *sampling_notes))
        if artifact.kind == "points":
            points, sampling_notes = cloud.read(path, limit)
            return Shape(path, artifact, points, up or guess_up_axis(artifact), (*notes, *sampling_notes))
        return Shape(
            path, artifact, mesh.read(path, has_nonfinite=nonfinite > 0), up or guess_up_axis(artifact), tuple(notes)
        )
    except InvalidArtifactError as error:
        raise UserError(f"{path}: {error}") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error


def guess_up_axis(artifact: Artifact) -> Up:
    """Only glTF defines an up axis. Splats and points usually have camera coordinates, with y down."""
    if artifact.format in ("GLB", "glTF", "OBJ"):
        return "+y"
    return "+z" if artifact.kind == "mesh" else "-y"
