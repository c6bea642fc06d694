"""What can be drawn, in numbers: Gaussians, a surface or points, each in the coordinates of its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rocm3d.artifact.sight import Unfit

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.sight import Array
    from rocm3d.model.artifact import Artifact

Up = Literal["+x", "-x", "+y", "-y", "+z", "-z"]

# Of the points on either side: a few that lie far off would make the rest too small to see.
_ASIDE = 1.0
_SAMPLE = 4096


@dataclass(frozen=True)
class Splats:
    """Gaussians: centres and standard deviations (n, 3), rotations as w x y z (n, 4), colours (n, 3), opacities (n)."""

    centres: Array
    sizes: Array
    rotations: Array
    colours: Array
    opacities: Array

    @property
    def points(self) -> Array:
        """Where it is."""
        return self.centres


@dataclass(frozen=True)
class Surface:
    """A mesh as a GLB that names no other file, and the places of its vertices (n, 3)."""

    glb: bytes
    points: Array


@dataclass(frozen=True)
class Cloud:
    """Points (n, 3) and their colours (n, 3), as bytes."""

    points: Array
    colours: Array


@dataclass(frozen=True)
class Shape:
    """One file that can be drawn. `notes` say where what is drawn is not what the file holds."""

    path: Path
    artifact: Artifact
    form: Splats | Surface | Cloud
    up: Up
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many of what the file holds, by the words that are shown."""
        named = {"gaussians": "Gaussians", "vertices": "vertices", "faces": "faces", "points": "points"}
        return {word: int(self.artifact.metrics[key]) for key, word in named.items() if key in self.artifact.metrics}

    @property
    def counted(self) -> str:
        """The same as text."""
        return ", ".join(f"{count:,} {word}" for word, count in self.counts.items())

    def sample(self) -> Array:
        """Some of its points (n, 3), without those that lie far off: what a picture has to hold."""
        import numpy

        points = self.form.points
        some = points[:: max(1, len(points) // _SAMPLE)].astype(numpy.float64)
        if isinstance(self.form, Surface):
            # Of a surface nothing lies far off: its ends are part of it.
            ends = numpy.concatenate([points[points.argmin(axis=0)], points[points.argmax(axis=0)]])
            return numpy.concatenate([some, ends.astype(numpy.float64)])
        low, high = numpy.percentile(some, [_ASIDE, 100 - _ASIDE], axis=0)
        slack = (high - low).max() * 1e-6
        inside = ((some >= low - slack) & (some <= high + slack)).all(axis=1)
        # Three ranges together may leave nothing of a few points.
        kept = some[inside] if inside.sum() > len(some) / 2 else some
        return _widened(kept, self.form.sizes) if isinstance(self.form, Splats) else kept


def _widened(centres: Array, sizes: Array) -> Array:
    """Gaussians reach beyond their centres: by two deviations of a usual one, as a few may be as large as the sky."""
    import numpy

    reach = 2 * float(numpy.median(sizes.max(axis=1))) * numpy.eye(3)
    return numpy.concatenate([centres, *(centres + sign * step for step in reach for sign in (1, -1))])


def refuse_empty(points: Array) -> None:
    """What is left after NaN and infinity were taken out must be something."""
    if not len(points):
        raise Unfit("nothing finite is left to draw")
