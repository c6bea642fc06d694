"""Where things stand and from where they are seen. Pure arithmetic: the world has z up and is seen along y.

All is brought to one size, so that neither the camera nor the narrow numbers of the browser meet very small or very
large coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rocm3d.artifact.sight import Array
    from rocm3d.viewer.shape import Shape, Up

# The radius that everything is brought to.
RADIUS = 5.0
# Two are drawn to one scale unless one of them were too small to be seen beside the other.
_APART = 5.0
_GAP = 0.12
# Vertical field of view in radians, and how high and how far aside the camera is in degrees.
FIELD = 0.6
_HEIGHT, _ASIDE = 20.0, 30.0
# How often the camera is moved so that what is seen lies in the middle.
_CENTRED = 4
# The share of the picture that is left free on each side of the content; a page has a panel there.
MARGIN, PAGE_MARGIN = 0.07, 0.15

# Rows of the rotation that puts each axis up, and what usually is in front towards the camera.
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
    """World = turn @ (scale * (local - centre)) + place."""

    centre: Array
    scale: float
    turn: Array
    place: Array

    def world(self, points: Array) -> Array:
        """Points (n, 3) of the file where they are drawn."""
        moved: Array = (points - self.centre) * self.scale @ self.turn.T + self.place
        return moved


@dataclass(frozen=True)
class Camera:
    """Where it is, what it looks at, and its vertical field of view in radians."""

    position: Array
    target: Array
    field: float = FIELD

    @property
    def rotation(self) -> Array:
        """Columns are its right, its down and its forward, as viser wants them."""
        import numpy

        right, up, back = axes()
        return numpy.stack([right, -up, -back], axis=1)

    def height(self, points: Array) -> float:
        """How far above the middle of the picture the highest of some points (n, 3) is."""
        return float(((points - self.target) @ axes()[1]).max())

    def over(self, place: Array, height: float) -> Array:
        """So far above the middle of the picture, over a place, and as near as what is looked at."""
        right, up, _ = axes()
        point: Array = self.target + right * float((place - self.target) @ right) + up * height
        return point


def turn(up: Up) -> Array:
    """Brings an axis up, and turns the front aside, as one looks at a thing."""
    import numpy

    angle = numpy.radians(_ASIDE)
    aside = numpy.array([[numpy.cos(angle), -numpy.sin(angle), 0], [numpy.sin(angle), numpy.cos(angle), 0], [0, 0, 1]])
    rows: Array = aside @ numpy.array(_TURNS[up], dtype=numpy.float64)
    return rows


def arrange(shapes: list[Shape]) -> tuple[list[Pose], list[str]]:
    """One in the middle, or two side by side, and what to say about their sizes."""
    import numpy

    samples = [shape.sample() for shape in shapes]
    middles = [(sample.min(axis=0) + sample.max(axis=0)) / 2 for sample in samples]
    spans = [max(float(numpy.linalg.norm(s - m, axis=1).max()), 1e-30) for s, m in zip(samples, middles, strict=True)]
    own = max(spans) > _APART * min(spans)
    scales = [RADIUS / (span if own else max(spans)) for span in spans]
    turned = [
        (sample - middle) * scale @ turn(shape.up).T
        for sample, middle, scale, shape in zip(samples, middles, scales, shapes, strict=True)
    ]
    widths = [float(points[:, 0].max() - points[:, 0].min()) for points in turned]
    gap = _GAP * max(*widths, RADIUS)
    left, poses = -(sum(widths) + gap * (len(widths) - 1)) / 2, []
    for shape, middle, scale, points, width in zip(shapes, middles, scales, turned, widths, strict=True):
        low, high = points.min(axis=0), points.max(axis=0)
        place = numpy.array([left - low[0], -(low[1] + high[1]) / 2, -(low[2] + high[2]) / 2])
        poses.append(Pose(middle, scale, turn(shape.up), place))
        left += width + gap
    ratio = max(spans) / min(spans)
    return poses, [f"each is drawn to its own scale: one is {ratio:,.0f} times as large as the other"] if own else []


def axes() -> tuple[Array, Array, Array]:
    """Right, up and back of the camera."""
    import numpy

    angle = numpy.radians(_HEIGHT)
    right = numpy.array([1.0, 0.0, 0.0])
    back = numpy.array([0.0, -numpy.cos(angle), numpy.sin(angle)])
    return right, numpy.cross(back, right), back


def frame(
    shapes: list[Shape], poses: list[Pose], aspect: float, headroom: float = 0.0, margin: float = MARGIN
) -> Camera:
    """The nearest camera that holds all of it; `headroom` is the share of the height that labels take above."""
    import numpy

    points = numpy.concatenate([pose.world(shape.sample()) for shape, pose in zip(shapes, poses, strict=True)])
    right, up, back = axes()
    target = (points.min(axis=0) + points.max(axis=0)) / 2
    tall, free = numpy.tan(FIELD / 2), 1 - 2 * margin
    for step in range(_CENTRED + 1):
        across, above, near = ((points - target) @ axis for axis in (right, up, back))
        # Labels are above the content, and the middle of the picture is that of both.
        rise = headroom * float(above.max() - above.min())
        far = max(
            float((numpy.abs(across) / (tall * aspect * free) + near).max()),
            float(((numpy.abs(above) + rise / 2) / (tall * free) + near).max()),
            1e-3,
        )
        if step < _CENTRED:
            # What is near is larger: the middle of what is seen is not that of what is there.
            seen = [side / numpy.maximum(far - near, 1e-9) for side in (across, above)]
            aside, lift = (float(part.max() + part.min()) / 2 * far for part in seen)
            target = target + right * aside + up * lift
    target = target + up * rise / 2
    return Camera(target + back * far, target)
