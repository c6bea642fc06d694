"""The report on one artifact of a workload: metrics and problems, and the table of metrics that `--expect` accepts."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Literal

from pydantic import Field, model_validator

from rocm3d.model.base import PublicText, Record

ArtifactKind = Literal["splat", "mesh", "points", "arrays", "image", "video", "unknown"]
ArtifactOutcome = Literal["ok", "bad", "not_read"]

_EXTENT = "length of the bounding box diagonal"

# By kind: each metric and its meaning. `ARRAY` is a placeholder for the name of an array; in a .npy it is `array`.
METRICS: dict[ArtifactKind, dict[str, str]] = {
    "splat": {
        "gaussians": "Gaussians in the file",
        "not_finite": "Gaussians with a NaN or infinity",
        "degenerate": "Gaussians that are too small to be visible or larger than the scene",
        "transparent": "Gaussians with an opacity below 1/255",
        "opacity": "mean opacity, 0 to 1",
        "sh_degree": "degree of the spherical harmonics",
        "extent": _EXTENT,
    },
    "mesh": {
        "vertices": "vertices",
        "faces": "triangles",
        "not_finite": "vertices with a NaN or infinity",
        "degenerate": "faces with zero area",
        "watertight": "1 if every edge belongs to two faces, else 0",
        "textures": "textures that exist and are readable",
        "constant_textures": "textures with a single colour",
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
        "elements": "elements of all arrays",
        "nan": "elements that are NaN",
        "infinite": "elements that are infinite",
        "minimum": "smallest finite element",
        "maximum": "largest finite element",
        "ARRAY.elements": "elements of one array",
        "ARRAY.nan": "NaN elements of one array",
        "ARRAY.minimum": "smallest finite element of one array",
        "ARRAY.maximum": "largest finite element of one array",
    },
    "image": {
        "width": "columns",
        "height": "rows",
        "channels": "channels, including alpha",
        "not_finite": "NaN or infinite values (float formats)",
        "mean": "mean brightness, 0 to 1; not normalised in float formats",
        "contrast": "brightest minus darkest value, in the unit of mean",
    },
    "video": {
        "frames": "decodable frames",
        "seconds": "duration by frame timestamps",
        "width": "columns",
        "height": "rows",
        "black_frames": "black frames",
        "still_frames": "frames that equal the previous one",
        "mean": "mean brightness, 0 to 1",
    },
}


class Preview(Record):
    """What a report shows without the file: a histogram with equal bins from 0 to 1, and a small PNG in base64."""

    histogram: tuple[int, ...] = ()
    picture: Annotated[str, PublicText()] = ""


class Artifact(Record):
    """One file. `problems` lists the worst first; for `not_read` it holds the reason."""

    path: str
    kind: ArtifactKind = "unknown"
    format: str = Field(default="", description="detected from the content: PLY, GLB, PNG, ...")
    bytes: int = 0
    outcome: ArtifactOutcome
    problems: tuple[str, ...] = ()
    metrics: dict[str, int | float] = Field(default={}, description="which metrics there are depends on the kind")
    unread: tuple[str, ...] = Field(default=(), description="parts of the file that were not checked")
    preview: Preview = Preview()

    @property
    def reason(self) -> str:
        """The worst problem; empty if the outcome is ok."""
        return self.problems[0] if self.problems else ""

    @model_validator(mode="after")
    def _check_outcome(self) -> Artifact:
        if (self.outcome == "ok") != (not self.problems):
            raise ValueError("ok requires no problems; any other outcome requires at least one")
        if self.outcome == "ok" and not self.metrics:
            raise ValueError("ok requires metrics")
        if not all(isfinite(value) for value in self.metrics.values()):
            raise ValueError("metrics must be finite numbers")
        return self


def is_metric(name: str) -> bool:
    """Whether any kind of artifact has this metric. Before the dot any array name is accepted."""
    metric = f"ARRAY.{name.rpartition('.')[2]}" if "." in name else name
    return any(metric in metrics for metrics in METRICS.values()) and not name.startswith((".", "ARRAY."))
