"""Makes the planned edits of a port, file by file: those that are selected and proven."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from rocm3d.apply.git_patch import file_diff, mail_patch
from rocm3d.apply.line_map import line_map
from rocm3d.apply.request import ApplyRequest
from rocm3d.apply.review_message import review_message
from rocm3d.apply.rewrite import (
    EditLeftOutError,
    EditNotNeededError,
    RewriteRefusedError,
    load_rewrite,
    rewrite_names,
)
from rocm3d.apply.submodules import CheckedOutSubmodule, find_submodule, original_bytes
from rocm3d.model.patch import (
    DECLINED,
    SAFE_ONLY,
    FileChange,
    Patch,
    RefusalKind,
    RefusedEdit,
    ReviewNote,
    SubmodulePatch,
)
from rocm3d.model.plan import PlannedEdit
from rocm3d.syntax.isolation import prove_isolation
from rocm3d.syntax.isolation_facts import IsolationFacts, read_facts
from rocm3d.workspace.journal import digest
from rocm3d.workspace.tree import Tree


@dataclass(frozen=True)
class RerunFile:
    """A file that was edited anew: its bytes, the recipes that changed it, and the change if there is one."""

    data: bytes
    recipes: tuple[str, ...]
    change: FileChange | None


class Edits:
    """The files edited so far. `earlier` is the patch of an earlier apply to the same tree."""

    def __init__(self, tree: Tree, request: ApplyRequest, earlier: Patch | None) -> None:
        self.tree, self.request, self.earlier = tree, request, earlier
        self.contents: dict[str, bytes] = {}
        self.restored: dict[str, bytes] = {}  # files of an earlier apply that have no edits any more
        self.refused: list[RefusedEdit] = []
        self._planned: dict[str, list[PlannedEdit]] = {}
        self._recipes: dict[str, list[str]] = {}
        self._committed: dict[str, bytes | None] = {}
        self._facts: IsolationFacts | None = None
        self._earlier_changes = {} if earlier is None else {change.path: change for change in earlier.edited}

    def edit_file(self, path: str, planned: list[PlannedEdit]) -> None:
        """Make the planned edits of one file. Each one must be proven against the original file."""
        self._planned[path] = planned
        try:
            data, recipes, refused = self._run_edits(path, self._initial_bytes(path))
        except RewriteRefusedError as obstacle:
            self.refused += [_refusal(edit, obstacle) for edit in planned]
            return
        self.refused += [self._of_original(refusal) for refusal in refused]
        if not recipes and (self._starts_over(path) or self._was_edited_in_submodule(path)):
            self.restored[path] = data
        elif recipes:
            self.contents[path], self._recipes[path] = data, recipes
        else:
            return
        self._facts = self.facts.with_edit(path, data)

    def _of_original(self, refusal: RefusedEdit) -> RefusedEdit:
        """The refusal of an earlier apply, if it was refused then: its reason is about the text before all edits."""
        earlier = self.earlier.refused if self.earlier is not None and refusal.path in self.request.originals else ()
        return next(
            (item for item in earlier if item.model_copy(update={"reason": refusal.reason}) == refusal), refusal
        )

    def rerun(
        self, path: str, planned: list[PlannedEdit], *, left_out: Collection[str] = (), added: Collection[str] = ()
    ) -> RerunFile:
        """One file edited anew from its original, without some recipes of now or with some that were left out."""
        back = {(path, recipe) for recipe in added}
        reasons = {key: reason for key, reason in self.request.left_out.items() if key not in back}
        reasons |= {(path, recipe): DECLINED for recipe in left_out}
        other = Edits(self.tree, replace(self.request, left_out=reasons, restarted=(path,)), self.earlier)
        other._facts = self.facts
        other.edit_file(path, planned)
        recipes = tuple(other._recipes.get(path, ()))
        change = other.file_change(path) if recipes else None
        return RerunFile(other.contents.get(path, self.original(path)), recipes, change)

    def current(self, path: str, planned: list[PlannedEdit]) -> bytes:
        """The file as it is in the tree; in a submodule, with the patch of the port."""
        if self.submodule_of(path) is None:
            return self.tree.read(path) or b""
        return self.rerun(path, planned).data

    @property
    def facts(self) -> IsolationFacts:
        """What the proofs assume of the tree before any apply, and of the edits so far. Read on first use."""
        if self._facts is None:
            original = replace(self.tree, overlay={**self.tree.overlay, **self.request.originals}, _sizes=None)
            facts = read_facts(original, without=self.request.folder)
            for path, before in self.request.originals.items():
                data = self.tree.read(path) if before is not None and path in self.tree else None
                facts = facts if data in (None, before) else facts.with_edit(path, data or b"")
            self._facts = facts
        return self._facts

    def add_proven(self, path: str, data: bytes) -> None:
        """Add an edit that has no recipe. It is dropped unless the same proof holds."""
        if (
            self.submodule_of(path) is None
            and path not in self.contents
            and prove_isolation(path, self.original(path), data, self.facts).holds
        ):
            self.contents[path], self._recipes[path] = data, []

    def carry_over_earlier(self) -> None:
        """Keep edits of an earlier apply that are still in the tree, even if this apply excludes them."""
        for path, before in self.request.originals.items():
            if before is None or path not in self.tree or self._starts_over(path):
                continue
            current = self.contents.get(path) or self.tree.read(path)
            if current is not None and current != before:
                self.contents[path] = current
                known = self._known_recipes(path) or self._recipes_by_replay(path, before)
                recipes = [*known, *self._recipes.get(path, ())]
                self._recipes[path] = list(dict.fromkeys(recipes))
                self.refused = [
                    refusal for refusal in self.refused if refusal.path != path or refusal.recipe not in recipes
                ]

    def submodule_of(self, path: str) -> CheckedOutSubmodule | None:
        """The submodule that contains the file."""
        return find_submodule(path, self.request.submodules)

    def original(self, path: str) -> bytes:
        """The file before any apply; in a submodule, the committed file."""
        before = self._committed_bytes(path) if self.submodule_of(path) else self.request.originals.get(path)
        return before or self.tree.read(path) or b""

    def file_change(self, path: str) -> FileChange:
        """The change of an edited file, with one proof for all its edits together."""
        before, after = self.original(path), self.contents[path]
        return FileChange(
            path=path,
            kind="edited",
            before=digest(before),
            after=digest(after),
            recipes=tuple(self._recipes[path]),
            proof=prove_isolation(path, before, after, self.facts),
            diff=file_diff(path, before, after).decode("utf-8", "replace"),
            review=self._review_notes(path, before, after),
        )

    def _review_notes(self, path: str, before: bytes, after: bytes) -> tuple[ReviewNote, ...]:
        """The edits of a file that somebody should read, with the lines of the edited file."""
        edited_line, notes = line_map(before, after), dict[str, ReviewNote]()
        for edit in self._planned.get(path, ()):
            if edit.safety == "review":
                lines = dict.fromkeys(edited_line(finding.line) for finding in edit.findings)
                places = tuple(f"{path}:{line}" for line in lines)
                notes[edit.recipe] = ReviewNote(recipe=edit.recipe, places=places, check=edit.check)
        earlier = self._earlier_changes.get(path)
        known = {note.recipe: note for note in earlier.review} if earlier else {}
        return tuple(note for recipe in self._recipes[path] if (note := notes.get(recipe) or known.get(recipe)))

    def submodule_patches(self) -> list[tuple[SubmodulePatch, bytes]]:
        """One patch record and its bytes for each submodule with edits, sorted by path."""
        patches = []
        for module in sorted(self.request.submodules, key=lambda module: module.path):
            paths = sorted(path for path in self.contents if self.submodule_of(path) == module)
            if not paths or module.commit is None:
                continue
            record = SubmodulePatch(
                path=module.path,
                name=module.name,
                commit=module.commit,
                file=f"{self.request.folder}/{module.patch_path}",
                changes=tuple(self.file_change(path) for path in paths),
            )
            diffs = [
                file_diff(module.relative_path(path) or path, self.original(path), self.contents[path])
                for path in paths
            ]
            text = f"For commit {module.commit} of {module.name}. Every edit is guarded: without ROCm nothing changes."
            text += review_message(record.changes)
            patches.append((record, mail_patch(f"{module.name}: build and run with ROCm", text, diffs)))
        return patches

    def _initial_bytes(self, path: str) -> bytes:
        """The bytes to edit. Raises RewriteRefusedError if the file cannot be edited."""
        data = self.tree.read(path) if path in self.tree else None
        if data is None:
            raise RewriteRefusedError("cannot read the file")
        module = self.submodule_of(path)
        if module is None:
            return self.original(path) if self._starts_over(path) else data
        if module.commit is None:
            raise RewriteRefusedError(f"git does not report the commit of submodule {module.path}")
        committed = self._committed_bytes(path)
        if not committed:
            raise RewriteRefusedError(f"differs from commit {module.commit[:12]} of {module.path}")
        return committed

    def _known_recipes(self, path: str) -> tuple[str, ...]:
        """The recipes of an earlier apply."""
        earlier = self._earlier_changes.get(path)
        return earlier.recipes if earlier is not None and self.submodule_of(path) is None else ()

    def _starts_over(self, path: str) -> bool:
        """Whether a file is edited anew from its original, because an edit that it has is left out from now on."""
        if self.request.originals.get(path) is None or self.submodule_of(path) is not None:
            return False
        is_left_out = any((path, recipe) in self.request.left_out for recipe in self._known_recipes(path))
        return is_left_out or path in self.request.restarted

    def _was_edited_in_submodule(self, path: str) -> bool:
        return self.submodule_of(path) is not None and path in self._earlier_changes

    def _committed_bytes(self, path: str) -> bytes | None:
        module = self.submodule_of(path)
        if path not in self._committed and module is not None:
            self._committed[path] = original_bytes(module, path, self.tree, self.earlier)
        return self._committed.get(path)

    def _run_edits(self, path: str, data: bytes) -> tuple[bytes, list[str], list[RefusedEdit]]:
        """The edited bytes, the recipes that changed them, and the refused edits with reasons."""
        recipes: list[str] = []
        refused: list[RefusedEdit] = []
        for edit in self._planned.get(path, ()):
            try:
                changed = self._edited(path, data, edit)
            except RewriteRefusedError as reason:
                refused.append(_refusal(edit, reason))
                continue
            if changed != data:
                recipes.append(edit.recipe)
                data = changed
        return data, recipes, refused

    def _recipes_by_replay(self, path: str, before: bytes) -> list[str]:
        """Recipes of an edited file that is missing in the patch document, as after a crash."""
        data, recipes, _ = self._run_edits(path, before)
        return recipes if data == self.tree.read(path) else []

    def _edited(self, path: str, data: bytes, edit: PlannedEdit) -> bytes:
        """The bytes after one edit. Raises RewriteRefusedError if it is left out, not possible or not proven."""
        is_carried_over = self._starts_over(path) and edit.recipe in self._known_recipes(path)
        reason = self.request.left_out.get((path, edit.recipe))
        if reason is None and not is_carried_over:
            reason = self.request.selection.exclusion_reason(edit)
        if reason is not None:
            raise EditLeftOutError(reason)
        if edit.safety == "manual":
            raise RewriteRefusedError("manual recipe: never applied automatically")
        if edit.rewrite not in rewrite_names():
            raise RewriteRefusedError(f"this version of rocm3d has no rewrite {edit.rewrite}")
        if edit.safety == "review" and self.request.safe_only and not is_carried_over:
            raise EditLeftOutError(SAFE_ONLY)
        changed = load_rewrite(edit.rewrite)(data, edit.parameters)
        proof = prove_isolation(path, self.original(path), changed, self.facts)
        if not proof.holds:
            raise RewriteRefusedError(f"NVIDIA isolation not proven: {proof.detail}")
        return changed


def _refusal(edit: PlannedEdit, reason: RewriteRefusedError) -> RefusedEdit:
    places = tuple(str(finding.location) for finding in edit.findings)
    kind: RefusalKind = "task"
    if isinstance(reason, EditLeftOutError):
        kind = "left_out"
    elif isinstance(reason, EditNotNeededError):
        kind = "not_needed"
    return RefusedEdit(path=edit.path, recipe=edit.recipe, reason=str(reason), places=places, kind=kind)
