"""A task for a person: what a port needs and rocm3d cannot edit, written so that a maintainer can act on it."""

from __future__ import annotations

from rocm3d.model.base import Record
from rocm3d.model.code import Effort


class PortTask(Record):
    """Work at lines of one file. `example` shows the same change elsewhere; `code` is empty if no rule covers it."""

    path: str
    lines: tuple[int, ...] = ()
    code: str = ""
    rule: str = ""
    reason: str
    action: str
    example_before: str = ""
    example_after: str = ""
    effort: Effort = "minutes"

    @property
    def where(self) -> str:
        """The path with all lines: `a.cu:3,17`."""
        return f"{self.path}:{','.join(map(str, self.lines))}" if self.lines else self.path
