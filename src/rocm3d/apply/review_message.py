"""The part of a commit message that names the edits that somebody should read."""

from __future__ import annotations

from collections.abc import Iterable

from rocm3d.apply.template import one_line
from rocm3d.model.patch import FileChange

_HEADING = "Please read these edits. The proof is about builds without ROCm; these change what ROCm builds do:"


def review_message(edited: Iterable[FileChange]) -> str:
    """What a reader of the patch should check, to be appended; empty if no edit needs a reader."""
    notes = [
        f"- {one_line(note.where or change.path)}: {note.recipe}: {one_line(note.check)}"
        for change in edited
        for note in change.review
    ]
    return "\n\n".join(["", _HEADING, "\n".join(notes)]) if notes else ""
