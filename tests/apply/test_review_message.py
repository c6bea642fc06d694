from __future__ import annotations

from rocm3d.apply.review_message import review_message
from rocm3d.model.patch import FileChange, Proof, ReviewNote

PROOF = Proof(kind="cpp-directives-evaluated", holds=True, detail="d")


def change(*notes: ReviewNote) -> FileChange:
    return FileChange(
        path="a.cu", kind="edited", before="0", after="1", recipes=("x",), proof=PROOF, diff="", review=notes
    )


def test_a_patch_without_such_edits_says_nothing():
    assert review_message([change()]) == ""


def test_each_edit_is_one_line_with_its_lines_and_what_to_check():
    notes = (
        ReviewNote(recipe="one", places=("a.cu:3", "a.cu:17"), check="Check\nthe sum.\x1b[2J"),
        ReviewNote(recipe="two", check="Measure it."),
    )

    assert review_message([change(*notes)]).splitlines()[4:] == [
        "- a.cu:3,17: one: Check the sum. [2J",
        "- a.cu: two: Measure it.",
    ]
