"""Drawable content: Gaussians, a surface or points, in the coordinates of the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy

from rocm3d.artifact.artifact_report import InvalidArtifactError

if TYPE_CHECKING:
    from pathlib import Path

    from rocm3d.artifact.artifact_report import Array
    from rocm3d.model.artifact import Artifact

Up = Literal["+x", "-x", "+y", "-y", "+z", "-z"]

# Percentiles cut off at either end: a few outliers would make everything else tiny.
_OUTLIER_PERCENT = 1.0
_SAMPLE_SIZE = 4096


@dataclass(frozen=True)
class Splats:
    """Centres and standard deviations (n, 3), quaternions w x y z (n, 4), colours uint8 (n, 3), opacities (n)."""

    centres: Array
    scales: Array
    rotations: Array
    colours: Array
    opacities: Array

    @property
    def points(self) -> Array:
        """The same name as in the other content types."""
        return self.centres


@dataclass(frozen=True)
class Surface:
    """A self-contained GLB and its vertex positions (n, 3)."""

    glb: bytes
    points: Array


@dataclass(frozen=True)
class PointCloud:
    """Points (n, 3) and uint8 colours (n, 3)."""

    points: Array
    colours: Array


@dataclass(frozen=True)
class Shape:
    """One drawable file. `notes` say how the drawing differs from the file."""

    path: Path
    artifact: Artifact
    content: Splats | Surface | PointCloud
    up: Up
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Number of elements in the file, by the label that is shown."""
        labels = {"gaussians": "Gaussians", "vertices": "vertices", "faces": "faces", "points": "points"}
        return {word: int(self.artifact.metrics[key]) for key, word in labels.items() if key in self.artifact.metrics}

    @property
    def counts_text(self) -> str:
        """Such as `8 vertices, 12 faces`."""
        return ", ".join(f"{count:,} {word}" for word, count in self.counts.items())

    def sample(self) -> Array:
        """Some of its points (n, 3) without outliers: what the camera must show."""
        points = self.content.points
        sampled = points[:: max(1, len(points) // _SAMPLE_SIZE)].astype(numpy.float64)
        if isinstance(self.content, Surface):
            # A surface has no outliers: its extreme points are part of it.
            ends = numpy.concatenate([points[points.argmin(axis=0)], points[points.argmax(axis=0)]])
            return numpy.concatenate([sampled, ends.astype(numpy.float64)])
        low, high = numpy.percentile(sampled, [_OUTLIER_PERCENT, 100 - _OUTLIER_PERCENT], axis=0)
        slack = (high - low).max() * 1e-6
        inside = ((sampled >= low - slack) & (sampled <= high + slack)).all(axis=1)
        # With few points, the three ranges together may exclude most of them.
        central = sampled[inside] if inside.sum() > len(sampled) / 2 else sampled
        return _add_gaussian_extent(central, self.content.scales) if isinstance(self.content, Splats) else central


def _add_gaussian_extent(centres: Array, scales: Array) -> Array:
    """Gaussians extend beyond their centres: by two median deviations, since a few may be as large as the sky."""
    reach = 2 * float(numpy.median(scales.max(axis=1))) * numpy.eye(3)
    return numpy.concatenate([centres, *(centres + sign * step for step in reach for sign in (1, -1))])


def refuse_empty(points: Array) -> None:
    """Raise if no finite points remain."""
    if not len(points):
        raise InvalidArtifactError("no finite points to draw")
