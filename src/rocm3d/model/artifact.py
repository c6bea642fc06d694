"""What a workload produced, as somebody looked at it: numbers, and what is wrong with it.

KEYS is the one table of what `--expect` may ask for.
"""

from __future__ import annotations

from math import isfinite
from typing import Literal

from pydantic import Field, model_validator

from rocm3d.model.base import Record

Kind = Literal["splat", "mesh", "points", "arrays", "image", "video", "unknown"]
ArtifactOutcome = Literal["ok", "bad", "not_read"]

_EXTENT = "length of the diagonal of its box"

# By kind: each metric and what it counts. `ARRAY` stands for the name of an array; it is `array` in a .npy.
KEYS: dict[Kind, dict[str, str]] = {
    "splat": {
        "gaussians": "Gaussians in the file",
        "not_finite": "Gaussians with a NaN or infinity",
        "degenerate": "Gaussians too small to be seen or larger than the scene",
        "transparent": "Gaussians with an opacity under 1/255",
        "opacity": "mean opacity, 0 to 1",
        "sh_degree": "degree of the spherical harmonics",
        "extent": _EXTENT,
    },
    "mesh": {
        "vertices": "vertices",
        "faces": "triangles",
        "not_finite": "vertices with a NaN or infinity",
        "degenerate": "faces without area",
        "watertight": "1 if every edge belongs to two faces, else 0",
        "textures": "textures that are there and can be read",
        "constant_textures": "textures of one colour",
        "extent": _EXTENT,
    },
    "points": {
        "points": "points",
        "not_finite": "points with a NaN or infinity",
        "coloured": "1 if points have colours, else 0",
        "extent": _EXTENT,
    },
    "arrays": {
        "arrays": "arrays in the file",
        "elements": "numbers in all of them",
        "nan": "numbers that are NaN",
        "infinite": "numbers that are infinite",
        "minimum": "smallest finite number of all",
        "maximum": "greatest finite number of all",
        "ARRAY.elements": "numbers in one array",
        "ARRAY.nan": "numbers of one array that are NaN",
        "ARRAY.minimum": "smallest finite number of one array",
        "ARRAY.maximum": "greatest finite number of one array",
    },
    "image": {
        "width": "columns",
        "height": "rows",
        "channels": "channels, alpha included",
        "not_finite": "numbers that are NaN or infinite, in float formats",
        "mean": "mean brightness, 0 to 1; as it is in float formats",
        "contrast": "difference of the brightest and the darkest, as mean",
    },
    "video": {
        "frames": "frames that could be decoded",
        "seconds": "length by the time of its frames",
        "width": "columns",
        "height": "rows",
        "black_frames": "frames that are black",
        "still_frames": "frames that show the same as the one before",
        "mean": "mean brightness, 0 to 1",
    },
}


class Preview(Record):
    """What a page can show without the file: counts of equal steps from 0 to 1, and a small PNG in base64."""

    histogram: tuple[int, ...] = ()
    picture: str = ""


class Artifact(Record):
    """One file. `bad` has its problems, the worst first; `not_read` says why nobody could look."""

    path: str
    kind: Kind = "unknown"
    format: str = Field(default="", description="what its content is: PLY, GLB, PNG, ...")
    bytes: int = 0
    outcome: ArtifactOutcome
    problems: tuple[str, ...] = ()
    metrics: dict[str, int | float] = Field(default={}, description="the keys are those of KEYS for its kind")
    unread: tuple[str, ...] = Field(default=(), description="parts of it that were not looked at")
    preview: Preview = Preview()

    @property
    def reason(self) -> str:
        """Why it is not ok, in one line; empty where it is."""
        return self.problems[0] if self.problems else ""

    @model_validator(mode="after")
    def _is_honest(self) -> Artifact:
        if (self.outcome == "ok") != (not self.problems):
            raise ValueError("ok has no problem, and everything else has one")
        if self.outcome == "ok" and not self.metrics:
            raise ValueError("ok means we looked: say what was counted")
        if not all(isfinite(value) for value in self.metrics.values()):
            raise ValueError("a metric is a finite number")
        return self


def is_key(name: str) -> bool:
    """Whether some kind of artifact has this metric; the name of an array may be anything."""
    general = f"ARRAY.{name.rpartition('.')[2]}" if "." in name else name
    return any(general in known for known in KEYS.values()) and not name.startswith((".", "ARRAY."))
