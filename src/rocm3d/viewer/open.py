"""From a file to what can be drawn of it, or the one line that says why nothing can: in the words of its check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.check import check
from rocm3d.artifact.sight import Unfit
from rocm3d.model.failure import MachineLacks, UserError
from rocm3d.viewer import cloud, gaussians, mesh
from rocm3d.viewer.shape import Shape

if TYPE_CHECKING:
    from rocm3d.model.artifact import Artifact
    from rocm3d.viewer.shape import Up

INSTALL = 'pip install "rocm3d[view]"'
KINDS = ("splat", "mesh", "points")
# More than this makes a browser slow; software that draws for a picture is slow much earlier.
MOST, MOST_IN_SOFTWARE = 1_000_000, 100_000
# What the number of all is called, by kind.
_COUNT = {"splat": "gaussians", "mesh": "vertices", "points": "points"}
# How problems begin that leave nothing to see; any others are told beside the picture.
_UNSEEN = ("empty:", "all ", "invisible:", "collapsed:", "no faces:", "degenerate: none")


def need_packages() -> None:
    """Refuse in one line where the extra is not installed."""
    try:
        import numpy  # noqa: F401
        import PIL  # noqa: F401
        import plyfile  # noqa: F401
        import trimesh  # noqa: F401
        import viser  # noqa: F401
    except ImportError as error:
        raise MachineLacks(f"{error.name} is needed to look at artifacts and is not installed", hint=INSTALL) from error


def drawable(artifact: Artifact) -> bool:
    """Whether there is something to see: a file with a fault may still be worth a look."""
    if artifact.kind not in KINDS or not artifact.metrics:
        return False
    return not artifact.reason.startswith(_UNSEEN) and artifact.metrics.get(_COUNT[artifact.kind], 0) > 0


def refuse(artifact: Artifact) -> None:
    """Raise the line that says why a file cannot be drawn, if that is so."""
    if drawable(artifact):
        return
    if artifact.kind in KINDS or artifact.reason:
        raise UserError(f"{artifact.path}: {artifact.reason or 'there is nothing in it to see'}")
    raise UserError(
        f"{artifact.path} is neither a splat, a mesh nor a point cloud, but {artifact.kind}",
        hint="PLY, GLB, glTF, OBJ, or a .npz that holds points",
    )


def shape(path: Path, up: Up | None = None, most: int = MOST, artifact: Artifact | None = None) -> Shape:
    """Check a file in a process of its own, then read what is drawn of it. `artifact` is an earlier check."""
    if artifact is None:
        if not path.is_file():
            raise UserError(f"{path} is no file" if path.exists() else f"{path} is not there")
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
    except Unfit as error:
        raise UserError(f"{path}: {error}") from error
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error


def guessed_up(artifact: Artifact) -> Up:
    """By custom, as no file but a glTF says: splats and points lie as cameras saw them, with y down."""
    if artifact.format in ("GLB", "glTF", "OBJ"):
        return "+y"
    return "+z" if artifact.kind == "mesh" else "-y"
