"""Loads a drawable shape from a file, or raises with the reason of the artifact check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.artifact_report import InvalidArtifactError
from rocm3d.artifact.check import check
from rocm3d.model.errors import MachineError, UserError

if TYPE_CHECKING:
    from rocm3d.model.artifact import Artifact
    from rocm3d.viewer.shape import PointCloud, Shape, Splats, Surface, Up

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
    count = artifact.metrics.get(_COUNT_METRIC.get(artifact.kind, ""), 0)
    return count > 0 and not artifact.reason.startswith(_INVISIBLE_PROBLEMS)


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
    from rocm3d.viewer import gaussians, mesh
    from rocm3d.viewer.shape import Shape

    content: Splats | Surface | PointCloud
    notes: list[str] = []
    try:
        if artifact.kind == "splat":
            content, notes = gaussians.read(path, limit)
        elif artifact.kind == "points":
            content, notes = mesh.read_points(path, limit)
        else:
            content = mesh.read(path, has_nonfinite=artifact.metrics.get("not_finite", 0) > 0)
    except InvalidArtifactError as error:
        raise UserError(f"{path}: {error}") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    return Shape(path, artifact, content, up or guess_up_axis(artifact), (*artifact.problems, *notes))


def guess_up_axis(artifact: Artifact) -> Up:
    """Only glTF defines an up axis. Splats and points usually have camera coordinates, with y down."""
    if artifact.format in ("GLB", "glTF", "OBJ"):
        return "+y"
    return "+z" if artifact.kind == "mesh" else "-y"
