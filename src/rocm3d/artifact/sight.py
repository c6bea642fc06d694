"""What a reader hands over, and the two ways in which it cannot: the file is bad, or nobody could look."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocm3d.model.artifact import Kind

    Array = NDArray[Any]


class Unfit(Exception):  # noqa: N818  (it says what the file is)
    """The file is not what it should be; the text is the one line that says so."""


class Unread(Exception):  # noqa: N818
    """Nobody could look, and this is why."""


@dataclass
class Sight:
    """The numbers of one file, its problems and what was passed over."""

    kind: Kind
    metrics: dict[str, int | float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    histogram: tuple[int, ...] = ()
    picture: str = ""

    def object_to(self, wrong: object, problem: str) -> None:
        """Add a problem where `wrong` holds."""
        if wrong:
            self.problems.append(problem)


def extent(points: Array) -> float:
    """The diagonal of the box around the finite ones of some points (n, 3)."""
    import numpy

    finite = points[numpy.isfinite(points).all(axis=1)].astype(numpy.float64)
    if not len(finite):
        return 0.0
    with numpy.errstate(over="ignore"):
        far = float(numpy.linalg.norm(finite.max(axis=0) - finite.min(axis=0)))
    return far if numpy.isfinite(far) else 0.0


def broken_rows(rows: Array) -> int:
    """How many rows (n, m) hold a NaN or an infinity."""
    import numpy

    return int((~numpy.isfinite(rows).all(axis=1)).sum())
