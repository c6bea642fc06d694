"""Edits of a port that are kept or left out together, with what a reader has to see of them.

The edits of one recipe in one file are a unit. Units join if one of them is lost without the other: its rewrite then
refuses, finds nothing to change, or is no longer proven.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rocm3d.apply.edits import Edits
from rocm3d.apply.git_patch import file_diff
from rocm3d.model.patch import FileChange, Patch, Proof, ReviewNote
from rocm3d.model.plan import Plan, PlannedEdit
from rocm3d.workspace.journal import digest


@dataclass(frozen=True)
class ReviewUnit:
    """Edits of one file. `diff` shows what making them changes; `is_made` is whether they are in the tree now.

    `file` is the digest of the file in the tree.
    """

    path: str
    recipes: tuple[str, ...]
    notes: tuple[ReviewNote, ...]
    proof: Proof
    diff: str
    file: str
    is_made: bool = True

    @property
    def key(self) -> tuple[str, tuple[str, ...], str]:
        """Identifies the unit as long as its edits are the same."""
        return self.path, self.recipes, self.shown

    @property
    def shown(self) -> str:
        """A digest of the changed lines, wherever they are in the file."""
        lines = self.diff.split("\n")
        first = next((number for number, line in enumerate(lines) if line.startswith("@@")), len(lines))
        changed = [line for line in lines[first:] if line.startswith(("+", "-"))]
        return digest("\n".join(changed).encode("utf-8", "surrogatepass"))


class ReviewUnits:
    """The units of a port. `edits` is of the tree as it is now, and leaves out what the port left out."""

    def __init__(self, plan: Plan, patch: Patch, edits: Edits) -> None:
        self._plan, self._patch, self._edits = plan, patch, edits

    def present(self) -> Iterator[ReviewUnit]:
        """The units with an edit that somebody should read, file by file."""
        for change in self._patch.edited:
            for recipes in self._groups(change):
                yield self._unit(change, recipes)

    def absent(self, path: str, recipes: Iterable[str]) -> ReviewUnit | None:
        """Edits that are not in the tree; None if they can no longer be made."""
        names = set(recipes)
        planned = self._planned(path)
        before, after = self._edits.current(path, planned), self._edits.rerun(path, planned, added=names)
        ordered = tuple(name for name in after.recipes if name in names)
        if not ordered or after.change is None:
            return None
        notes = tuple(note for note in after.change.review if note.recipe in names)
        diff = _diff(path, before, after.data)
        return ReviewUnit(path, ordered, notes, after.change.proof, diff, self._file(path), is_made=False)

    def _unit(self, change: FileChange, recipes: set[str]) -> ReviewUnit:
        planned = self._planned(change.path)
        without = self._edits.rerun(change.path, planned, left_out=recipes)
        notes = tuple(note for note in change.review if note.recipe in recipes)
        names = tuple(name for name in change.recipes if name in recipes)
        diff = _diff(change.path, without.data, self._edits.current(change.path, planned))
        return ReviewUnit(change.path, names, notes, change.proof, diff, self._file(change.path))

    def _groups(self, change: FileChange) -> Iterator[set[str]]:
        """Recipes that are left out together, for each unit: with a recipe also those that are lost without it."""
        pending = [note.recipe for note in change.review]
        lost_with = {recipe: self._lost(change, {recipe}) for recipe in pending}
        while pending:
            group: set[str] = set()
            more = lost_with[pending[0]]
            while not more <= group:
                group |= more
                more = self._lost(change, group).union(*(lost for lost in lost_with.values() if lost & group))
            pending = [recipe for recipe in pending if recipe not in group]
            yield group

    def _lost(self, change: FileChange, recipes: set[str]) -> set[str]:
        """The recipes of a file that make no edit if these are left out, with these."""
        rerun = self._edits.rerun(change.path, self._planned(change.path), left_out=recipes)
        return (set(change.recipes) - set(rerun.recipes)) | recipes

    def _file(self, path: str) -> str:
        return digest(self._edits.tree.read(path) or b"")

    def _planned(self, path: str) -> list[PlannedEdit]:
        return [edit for edit in self._plan.edits if edit.path == path]


def _diff(path: str, before: bytes, after: bytes) -> str:
    return file_diff(path, before, after).decode("utf-8", "replace")
