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
    metrics: dict[str, float] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    histogram: tuple[int, ...] = ()
    picture: str = ""

    def add_problem_if(self, condition: object, problem: str) -> None:
        if condition:
            self.problems.append(problem)
