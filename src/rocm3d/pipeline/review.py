"""`rocm3d review`: which edits of a port are still to be read, and taking edits out of it or back into it.

Each answer is computed first, then stored, then carried out: after a crash the next review, or the next apply,
completes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rocm3d.apply.edits import Edits
from rocm3d.apply.request import ApplyRequest
from rocm3d.apply.review_units import ReviewUnit, ReviewUnits
from rocm3d.apply.submodules import checked_out_submodules
from rocm3d.apply.undo import changed_since
from rocm3d.model.errors import UserError
from rocm3d.model.evidence import Evidence
from rocm3d.model.patch import DECLINED, Patch
from rocm3d.model.plan import Plan
from rocm3d.model.review import ReviewAnswer, ReviewAnswers, declined_edits
from rocm3d.render import html
from rocm3d.repository import REPORT, stale_patches
from rocm3d.workspace.journal import UndoJournal, digest
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from typing import Literal

    from rocm3d.repository import ComputedPort, Repository


@dataclass
class Review:
    """The review of one ported tree. `again` also asks about edits that have an answer."""

    repository: Repository
    again: bool = False
    _answered: set[object] = field(default_factory=set)  # in this session, by key
    _present: list[ReviewUnit] | None = None  # until the tree changes

    def open_units(self) -> list[ReviewUnit]:
        """The edits without an answer, in the order of the patch; with `again` all, those left out last."""
        state = self._state()
        if self._present is None:
            self._present = [*state.units().present()]
        if not self.again:
            return [unit for unit in self._present if not _is_answered(unit, state.answers)]
        groups = [item for item in state.answers.answers if item.answer == "no"]
        units = state.units() if groups else None
        left_out = [units.absent(item.path, item.recipes) for item in groups] if units else []
        every = (*self._present, *(unit for unit in left_out if unit is not None))
        return [unit for unit in every if unit.key not in self._answered]

    def keep(self, unit: ReviewUnit) -> None:
        """Store that the edits were read and stay; makes them if they are not in the tree."""
        self._answer(unit, "yes")

    def leave_out(self, unit: ReviewUnit) -> None:
        """Take the edits out of the port. Raises UserError, and changes nothing, if that is not possible."""
        self._answer(unit, "no")

    def complete(self) -> None:
        """Carry out an answer that was stored before a crash."""
        with self.repository.locked("review"):
            state = self._state()
            pending = state.pending()
            if pending or stale_patches(state.patch, state.journal):
                state.require_unchanged()
                self._write(state, state.computed(pending))

    def finish(self) -> None:
        """Seal the documents of the changed port, and write its report, if it had one."""
        with self.repository.locked("review"):
            if self.repository.documents.find_own(Evidence) is not None:
                self.repository.evidence()
                documents = self.repository.documents
                documents.write_text(documents.folder / REPORT, html.render(self.repository.report()))

    def _answer(self, unit: ReviewUnit, answer: Literal["yes", "no"]) -> None:
        self._answered.add(unit.key)
        with self.repository.locked("review"):
            state = self._state()
            if digest(state.repository.source_tree().read(unit.path) or b"") != unit.file:
                raise UserError(f"{unit.path} was changed since this edit was shown", hint="run `rocm3d review` again")
            changes_tree = unit.is_made == (answer == "no")
            entry = ReviewAnswer(path=unit.path, recipes=unit.recipes, answer=answer, shown=unit.shown)
            answers = state.answers.with_answer(entry)
            port = None
            if changes_tree:
                state.require_unchanged()
                state = state.with_answers(answers)
                port = state.computed({unit.path})
                state.require_only(unit, port)
            self.repository.documents.write(answers)
            if port is not None:
                self._write(state, port)

    def _write(self, state: PortOnDisk, port: ComputedPort) -> None:
        self._present = None
        self.repository.write_port(port, state.journal)

    def _state(self) -> PortOnDisk:
        """The port as it is on disk now. Raises UserError if there is none."""
        documents, root = self.repository.documents, self.repository.root
        patch, journal = documents.find_own(Patch), UndoJournal.open(root)
        if patch is None or not journal.entries:
            raise UserError(f"{root} has no port that can be reviewed", hint="run `rocm3d port PATH` first")
        self.repository.folder = patch.folder
        answers = documents.find_own(ReviewAnswers) or ReviewAnswers(repository=patch.repository)
        return PortOnDisk(self.repository, documents.read(Plan), patch, journal, answers)


@dataclass(frozen=True)
class PortOnDisk:
    """The documents of a port, its journal and the answers so far."""

    repository: Repository
    plan: Plan
    patch: Patch
    journal: UndoJournal
    answers: ReviewAnswers

    def with_answers(self, answers: ReviewAnswers) -> PortOnDisk:
        """The same port with other answers."""
        return PortOnDisk(self.repository, self.plan, self.patch, self.journal, answers)

    def units(self) -> ReviewUnits:
        """The units of the port."""
        edits = Edits(self.repository.source_tree(), self._request(()), self.patch)
        return ReviewUnits(self.plan, self.patch, edits)

    def computed(self, restarted: set[str]) -> ComputedPort:
        """The port with these answers; the files in `restarted` are edited anew."""
        return self.repository.computed_port(self.plan, self._request(tuple(sorted(restarted))))

    def pending(self) -> set[str]:
        """The files of answers that are not carried out: edits that are in the port against them, or missing."""
        present = {(change.path, recipe) for change in self.patch.edited for recipe in change.recipes}
        missing = {(item.path, item.recipe) for item in self.patch.left_out if item.reason == DECLINED}
        confirmed = {
            (item.path, recipe) for item in self.answers.answers if item.answer == "yes" for recipe in item.recipes
        }
        return {path for path, _ in (present & declined_edits(self.answers).keys()) | (missing & confirmed)}

    def require_unchanged(self) -> None:
        """Raises UserError if somebody changed the port."""
        if changed := changed_since(self.journal):
            raise UserError(
                f"changed since the last apply: {', '.join(changed[:3])}",
                hint="run `rocm3d undo --keep-changed` first, or commit your work",
            )

    def require_only(self, unit: ReviewUnit, port: ComputedPort) -> None:
        """Raises UserError unless the new port is proven and loses no other edit."""
        before, after = ({change.path: change for change in patch.edited} for patch in (self.patch, port.patch))
        unproven = next((change for change in after.values() if not change.proof.holds), None)
        if unproven is not None:
            raise UserError(
                f"nothing was changed: {unproven.path} would not be proven ({unproven.proof.detail})",
                hint="answer yes, or take all edits out with `rocm3d undo`",
            )
        for path in sorted(before.keys() | after.keys()):
            old, new = before.get(path), after.get(path)
            lost = set(old.recipes if old else ()) - set(new.recipes if new else ()) - {*unit.recipes}
            if lost or (path != unit.path and (old is None or new is None or old.after != new.after)):
                raise UserError(
                    f"nothing was changed: {path} would change too",
                    hint="run `rocm3d undo PATH` and `rocm3d apply PATH`, then review again",
                )

    def _request(self, restarted: tuple[str, ...]) -> ApplyRequest:
        left_out = {(item.path, item.recipe): item.reason for item in self.patch.left_out}
        answered = {(item.path, recipe) for item in self.answers.answers for recipe in item.recipes}
        left_out = {key: reason for key, reason in left_out.items() if key not in answered}
        return ApplyRequest(
            self.patch.folder,
            originals={path: self.journal.original(path) for path in self.journal.entries},
            submodules=checked_out_submodules(Tree.open(self.repository.root)),
            left_out={**left_out, **declined_edits(self.answers)},
            restarted=restarted,
        )


def open_review(repository: Repository, *, again: bool = False) -> Review:
    """The review of a ported tree. Raises UserError if there is no port."""
    review = Review(repository, again)
    review.open_units()
    return review


def _is_answered(unit: ReviewUnit, answers: ReviewAnswers) -> bool:
    return any(
        item.answer == "yes"
        and item.path == unit.path
        and set(item.recipes) == set(unit.recipes)
        and item.shown == unit.shown
        for item in answers.answers
    )
