"""The report that every artifact reader returns, and its two failures: an invalid file and an unreadable one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocm3d.model.artifact import ArtifactKind

    Array = NDArray[Any]


class InvalidArtifactError(Exception):
    """The file itself is bad: empty, truncated, damaged or misnamed. The message is one line for the user."""


class UnreadableArtifactError(Exception):
    """The file could not be checked, which says nothing about the file. The message is the reason."""


@dataclass
class ArtifactReport:
    """Statistics and problems of one file; `unread` names the parts that were not checked."""

    kind: ArtifactKind
    metrics: dict[str, int | float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    histogram: tuple[int, ...] = ()
    picture: str = ""

    def add_problem_if(self, condition: object, problem: str) -> None:
        if condition:
            self.problems.append(problem)


def extent(points: Array) -> float:
    """The diagonal of the bounding box of points (n, 3); points that are not finite are ignored."""
    import numpy

    finite = points[numpy.isfinite(points).all(axis=1)].astype(numpy.float64)
    if not len(finite):
        return 0.0
    with numpy.errstate(over="ignore"):
        diagonal = float(numpy.linalg.norm(finite.max(axis=0) - finite.min(axis=0)))
    return diagonal if numpy.isfinite(diagonal) else 0.0


def count_nonfinite_rows(rows: Array) -> int:
    """The number of rows (n, m) that contain NaN or infinity."""
    import numpy

    return int((~numpy.isfinite(rows).all(axis=1)).sum())
