"""Positions of shapes and camera. The world has z up; the camera looks along y.

Everything is scaled to one radius, so that neither the camera nor the browser's float16 values meet extreme
coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy

if TYPE_CHECKING:
    from rocm3d.artifact.artifact_report import Array
    from rocm3d.viewer.shape import Shape, Up

# World units.
RADIUS = 5.0
# Two shapes share one scale unless their sizes differ by more than this factor.
_MAX_SIZE_RATIO = 5.0
_GAP = 0.12
# Vertical field of view in radians; elevation and azimuth of the camera in degrees.
FIELD_OF_VIEW = 0.6
_ELEVATION, _AZIMUTH = 20.0, 30.0
# Iterations that centre the projected content.
_CENTRING_STEPS = 4
# Free share of the picture on each side; a page needs more, for its panel.
MARGIN, PAGE_MARGIN = 0.07, 0.15

# Rows of the rotation that turns each axis up, and the usual front towards the camera.
_TURNS: dict[Up, tuple[tuple[int, int, int], ...]] = {
    "+z": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "-z": ((1, 0, 0), (0, -1, 0), (0, 0, -1)),
    "+y": ((1, 0, 0), (0, 0, -1), (0, 1, 0)),
    "-y": ((1, 0, 0), (0, 0, 1), (0, -1, 0)),
    "+x": ((0, 1, 0), (0, 0, 1), (1, 0, 0)),
    "-x": ((0, -1, 0), (0, 0, 1), (-1, 0, 0)),
}


@dataclass(frozen=True)
class Pose:
    """world = rotation @ (scale * (local - centre)) + offset."""

    centre: Array
    scale: float
    rotation: Array
    offset: Array

    def world(self, points: Array) -> Array:
        """World coordinates of points (n, 3) of the file."""
        moved: Array = (points - self.centre) * self.scale @ self.rotation.T + self.offset
        return moved


@dataclass(frozen=True)
class Camera:
    """Position and target in world coordinates; `field` is the vertical field of view in radians."""

    position: Array
    target: Array
    field: float = FIELD_OF_VIEW

    @property
    def rotation(self) -> Array:
        """Columns are right, down and forward: viser's convention."""
        right, up, back = camera_axes()
        return numpy.stack([right, -up, -back], axis=1)

    def height(self, points: Array) -> float:
        """How far the highest of points (n, 3) lies above the centre of the picture, in world units."""
        return float(((points - self.target) @ camera_axes()[1]).max())

    def label_position(self, anchor: Array, height: float) -> Array:
        """The point at `height` above the centre of the picture, horizontally over a point, at the target's depth."""
        right, up, _ = camera_axes()
        position: Array = self.target + right * float((anchor - self.target) @ right) + up * height
        return position


def up_rotation(up: Up) -> Array:
    """Rotation that turns an axis up and the front by the azimuth."""
    angle = numpy.radians(_AZIMUTH)
    azimuth_rotation = numpy.array(
        [[numpy.cos(angle), -numpy.sin(angle), 0], [numpy.sin(angle), numpy.cos(angle), 0], [0, 0, 1]]
    )
    rows: Array = azimuth_rotation @ numpy.array(_TURNS[up], dtype=numpy.float64)
    return rows


def arrange(shapes: list[Shape]) -> tuple[list[Pose], list[str]]:
    """Poses for one shape in the centre or two side by side, and a note if their scales differ."""
    samples = [shape.sample() for shape in shapes]
    middles = [(sample.min(axis=0) + sample.max(axis=0)) / 2 for sample in samples]
    spans = [max(float(numpy.linalg.norm(s - m, axis=1).max()), 1e-30) for s, m in zip(samples, middles, strict=True)]
    has_own_scales = max(spans) > _MAX_SIZE_RATIO * min(spans)
    scales = [RADIUS / (span if has_own_scales else max(spans)) for span in spans]
    turned = [
        (sample - middle) * scale @ up_rotation(shape.up).T
        for sample, middle, scale, shape in zip(samples, middles, scales, shapes, strict=True)
    ]
    widths = [float(points[:, 0].max() - points[:, 0].min()) for points in turned]
    gap = _GAP * max(*widths, RADIUS)
    left, poses = -(sum(widths) + gap * (len(widths) - 1)) / 2, []
    for shape, middle, scale, points, width in zip(shapes, middles, scales, turned, widths, strict=True):
        low, high = points.min(axis=0), points.max(axis=0)
        offset = numpy.array([left - low[0], -(low[1] + high[1]) / 2, -(low[2] + high[2]) / 2])
        poses.append(Pose(middle, scale, up_rotation(shape.up), offset))
        left += width + gap
    ratio = max(spans) / min(spans)
    return poses, [
        f"drawn at different scales: one is {ratio:,.0f} times as large as the other"
    ] if has_own_scales else []


def camera_axes() -> tuple[Array, Array, Array]:
    """Right, up and back of the camera."""
    angle = numpy.radians(_ELEVATION)
    right = numpy.array([1.0, 0.0, 0.0])
    back = numpy.array([0.0, -numpy.cos(angle), numpy.sin(angle)])
    return right, numpy.cross(back, right), back


def frame_camera(
    shapes: list[Shape], poses: list[Pose], aspect: float, headroom: float = 0.0, margin: float = MARGIN
) -> Camera:
    """The nearest camera that shows all shapes. `headroom` is the share of the height for labels above them."""
    points = numpy.concatenate([pose.world(shape.sample()) for shape, pose in zip(shapes, poses, strict=True)])
    right, up, back = camera_axes()
    target = (points.min(axis=0) + points.max(axis=0)) / 2
    tall, free = numpy.tan(FIELD_OF_VIEW / 2), 1 - 2 * margin
    for step in range(_CENTRING_STEPS + 1):
        across, above, near = ((points - target) @ axis for axis in (right, up, back))
        # Labels are above the content; the picture is centred on both together.
        rise = headroom * float(above.max() - above.min())
        far = max(
            float((numpy.abs(across) / (tall * aspect * free) + near).max()),
            float(((numpy.abs(above) + rise / 2) / (tall * free) + near).max()),
            1e-3,
        )
        if step < _CENTRING_STEPS:
            # Perspective: the centre of the projection is not the projection of the centre.
            projected = [side / numpy.maximum(far - near, 1e-9) for side in (across, above)]
            shift, lift = (float(part.max() + part.min()) / 2 * far for part in projected)
            target = target + right * shift + up * lift
    target = target + up * rise / 2
    return Camera(target + back * far, target)
