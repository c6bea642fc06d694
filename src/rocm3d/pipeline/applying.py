"""Applies a plan to a repository, or undoes it: all or nothing, and never over uncommitted work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rocm3d.apply.edit_selection import EditSelection
from rocm3d.apply.request import ApplyRequest
from rocm3d.apply.stage import MANIFEST, ApplyOutcome, apply, refuse_foreign_folder
from rocm3d.apply.submodules import checked_out_submodules, has_only_port_changes
from rocm3d.apply.undo import UndoResult, changed_since, undo
from rocm3d.model.errors import Rocm3dError, UserError
from rocm3d.model.patch import Patch
from rocm3d.model.plan import Plan, UnresolvedFinding
from rocm3d.pipeline.planning import PlanRepository
from rocm3d.scan.selection import Selection
from rocm3d.workspace.git import uncommitted_paths
from rocm3d.workspace.journal import UndoJournal
from rocm3d.workspace.state import PORT_FOLDER
from rocm3d.workspace.tree import Tree
from rocm3d.workspace.writer import Writer

COMMIT = "port.patch"
FOLDER = PORT_FOLDER


class ApplyRepository(PlanRepository):
    """A repository with the apply stage and undo."""

    def apply(  # noqa: PLR0913  (options of the command)
        self,
        plan: Plan,
        *,
        review: bool,
        dry_run: bool,
        allow_dirty: bool = False,
        selection: EditSelection | None = None,
        patch_file: Path | None = None,
    ) -> Patch:
        """Apply in place. Nothing is written before everything is computed and proven.

        The work folder also gets the complete change as one file for `git am`; `patch_file` gets a copy of it.
        """
        journal = UndoJournal.open(self.root)
        if not dry_run:
            self._require_safe_tree(journal, allow_dirty=allow_dirty)
        tree = self._full_tree()
        refuse_foreign_folder(tree, self.folder)
        originals = {path: journal.original(path) for path in journal.entries}
        modules = checked_out_submodules(tree)
        request = ApplyRequest(self.folder, review, dry_run, originals, selection or EditSelection(), modules)
        outcome = apply(plan, self._source_tree(), request, self.documents.find(Patch))
        patch = outcome.patch.model_copy(
            update={"left": (*outcome.patch.left, *self._remaining_findings(plan, outcome))}
        )
        if patch_file is not None:
            self.documents.write_bytes(patch_file, outcome.commit)
        if not dry_run:
            self._write(outcome.contents, journal)
            self.documents.write(patch)
            self.documents.write_bytes(self.documents.folder / COMMIT, outcome.commit)
        return patch

    def undo(self, *, keep_changed: bool) -> UndoResult:
        """Restore the tree before the first apply."""
        journal = UndoJournal.open(self.root)
        if not journal.entries:
            raise UserError(f"nothing to undo in {self.root}", hint="`rocm3d apply` has not changed this tree")
        return undo(journal, Writer(self.root, journal), keep_changed=keep_changed)

    def _write(self, contents: Mapping[str, bytes], journal: UndoJournal) -> None:
        """All or nothing: a first apply that fails is undone."""
        writer, is_first_apply = Writer(self.root, journal), not journal.entries
        try:
            # The manifest first: after a crash it still marks the folder as made by rocm3d.
            for path, content in sorted(contents.items(), key=lambda item: (not item[0].endswith(MANIFEST), item)):
                self.progress(path)
                writer.write(path, content)
        except Rocm3dError:
            if is_first_apply:
                undo(journal, writer, keep_changed=True)
            raise

    def _remaining_findings(self, plan: Plan, outcome: ApplyOutcome) -> list[UnresolvedFinding]:
        """Findings with a planned edit that are still in the edited text: they need a manual edit."""
        contents = {**outcome.contents, **outcome.submodule_contents}
        edited = {path: data for path, data in contents.items() if not path.startswith(f"{self.folder}/")}
        refused = {(refusal.path, refusal.recipe) for refusal in outcome.patch.refused}
        planned_edits = {
            (edit.path, finding.code, finding.package): edit
            for edit in plan.edits
            for finding in edit.findings
            if finding.severity != "note"
        }
        tree = Tree.open(self.root, excluded_folders=self._port_folders(), overlay=edited)
        return [
            UnresolvedFinding(finding=finding, reason=f"{edit.recipe} does not handle this form")
            for finding in self._scan(tree, Selection()).findings
            if (edit := planned_edits.get((finding.path, finding.code, finding.package)))
            and (edit.path, edit.recipe) not in refused
        ]

    def _require_safe_tree(self, journal: UndoJournal, *, allow_dirty: bool) -> None:
        dirty = uncommitted_paths(self.root)
        port_paths = set(journal.entries)
        foreign = [path for path in dirty or () if not _is_port_path(path, port_paths, self.folder)]
        earlier = self.documents.find(Patch)
        foreign = [path for path in foreign if not has_only_port_changes(self.root, path, earlier)]
        if foreign and not allow_dirty:
            raise UserError(
                f"{self.root.name} has uncommitted changes: "
                f"{', '.join(foreign[:3])}{' ...' if len(foreign) > 3 else ''}",
                hint="commit them, port a copy with --into DIR, or pass --allow-dirty",
            )
        changed = changed_since(journal)
        if changed and dirty == []:
            journal.delete()  # the changes are committed: from now on git can undo them
        elif changed:
            raise UserError(
                f"changed since the last apply: {', '.join(changed[:3])}",
                hint="run `rocm3d undo --keep-changed` first, or commit your work",
            )


def _is_port_path(path: str, port_paths: set[str], folder: str) -> bool:
    return path in port_paths or path.rstrip("/") == folder or path.startswith(f"{folder}/")
