"""Apply itself: make every planned edit that can be proven, add the port's files, and say what was not done."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from rocm3d import __version__
from rocm3d.apply.addition import additions
from rocm3d.apply.rewrite import Refuse, rewrites
from rocm3d.model.failure import UserError
from rocm3d.model.patch import FileChange, Patch, Proof, Refused
from rocm3d.syntax.isolation import prove
from rocm3d.workspace.journal import digest

if TYPE_CHECKING:
    from rocm3d.model.plan import Plan, PlannedEdit
    from rocm3d.workspace.tree import Tree

MANIFEST = "port.json"


@dataclass(frozen=True)
class Request:
    """How to apply. `originals` are files as they were before any earlier apply; None for one that was not there."""

    folder: str
    review: bool = False
    dry_run: bool = False
    originals: Mapping[str, bytes | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The patch, and the bytes to write for it."""

    patch: Patch
    contents: Mapping[str, bytes]


def apply(plan: Plan, tree: Tree, request: Request, earlier: Patch | None = None) -> Outcome:
    """Compute the port. The patch is cumulative: it describes the tree against its originals, however often we ran."""
    refuse_foreign_folder(tree, request.folder)
    edits = _Edits(tree, request)
    for path, planned in groupby(sorted(plan.edits, key=lambda edit: edit.path), key=lambda edit: edit.path):
        edits.file(path, list(planned))
    edits.carry(earlier)
    added = {
        f"{request.folder}/{path}": data
        for item in additions()
        for path, data in item.render(plan, tree, request.folder).items()
    }
    changes = [*edits.changes(), *(_added(path, data) for path, data in added.items())]
    manifest = _manifest(plan, changes)
    added[f"{request.folder}/{MANIFEST}"] = manifest
    changes.append(_added(f"{request.folder}/{MANIFEST}", manifest))
    patch = Patch(
        repository=plan.repository,
        folder=request.folder,
        dry_run=request.dry_run,
        changes=tuple(sorted(changes, key=lambda change: change.path)),
        refused=tuple(edits.refused),
        left=plan.left,
    )
    return Outcome(patch, {**edits.contents, **added})


def refuse_foreign_folder(tree: Tree, folder: str) -> None:
    """A folder of that name that is not ours stays untouched."""
    inside = [path for path in tree.paths() if path.startswith(f"{folder}/")]
    if inside and not is_port_folder(tree, folder):
        raise UserError(f"{folder}/ is there already and not from rocm3d", hint="name another one with --folder")


def is_port_folder(tree: Tree, folder: str) -> bool:
    """Whether a folder of the tree was made by rocm3d: its manifest says so."""
    data = tree.read(f"{folder}/{MANIFEST}") if f"{folder}/{MANIFEST}" in tree else None
    try:
        return isinstance(manifest := json.loads(data or b"null"), dict) and manifest.get("tool") == "rocm3d"
    except (ValueError, RecursionError):
        return False


class _Edits:
    """The edited files so far."""

    def __init__(self, tree: Tree, request: Request) -> None:
        self.tree, self.request = tree, request
        self.contents: dict[str, bytes] = {}
        self.recipes: dict[str, list[str]] = {}
        self.refused: list[Refused] = []

    def file(self, path: str, planned: list[PlannedEdit]) -> None:
        """Run one file through its edits; each must prove itself against the original."""
        data = self.tree.read(path) if path in self.tree else None
        if data is None:
            self.refused += [
                Refused(path=path, recipe=edit.recipe, reason="the file cannot be read") for edit in planned
            ]
            return
        for edit in planned:
            changed, reason = self._attempt(path, data, edit)
            if reason is not None:
                self.refused.append(Refused(path=path, recipe=edit.recipe, reason=reason))
            elif changed != data:
                self.recipes.setdefault(path, []).append(edit.recipe)
                data = changed
        if path in self.recipes:
            self.contents[path] = data

    def _attempt(self, path: str, data: bytes, edit: PlannedEdit) -> tuple[bytes, str | None]:
        if edit.safety == "manual":
            return data, "is for a person to make: recipes of this kind are never applied"
        if edit.rewrite not in rewrites():
            return data, f"this rocm3d has no rewrite {edit.rewrite}"
        if edit.safety == "review" and not self.request.review:
            return data, "wants a look first: apply with --review"
        try:
            changed = rewrites()[edit.rewrite].edit(data, edit.parameters)
        except Refuse as refusal:
            return data, str(refusal)
        proof = prove(path, self._original(path) or data, changed)
        return (changed, None) if proof.holds else (data, f"isolation is not proven: {proof.detail}")

    def _original(self, path: str) -> bytes | None:
        return self.request.originals.get(path) or self.tree.read(path)

    def carry(self, earlier: Patch | None) -> None:
        """Take over edits of an earlier apply that still stand."""
        known = {} if earlier is None else {change.path: change.recipes for change in earlier.changes}
        for path, original in self.request.originals.items():
            if original is None or path not in self.tree:
                continue
            now = self.contents.get(path) or self.tree.read(path)
            if now is not None and now != original:
                self.contents[path] = now
                self.recipes[path] = list(dict.fromkeys([*known.get(path, ()), *self.recipes.get(path, ())]))

    def changes(self) -> list[FileChange]:
        """One change for each edited file, with its proof over all edits together."""
        found = []
        for path, after in self.contents.items():
            before = self._original(path) or b""
            found.append(
                FileChange(
                    path=path,
                    kind="edited",
                    before=digest(before),
                    after=digest(after),
                    recipes=tuple(self.recipes[path]),
                    proof=prove(path, before, after),
                    diff=_diff(path, before, after),
                )
            )
        return found


def _added(path: str, data: bytes) -> FileChange:
    proof = Proof(kind="added-file", holds=True, detail="a new file under the port's folder, imported by nothing")
    diff = _diff(path, None, data)
    return FileChange(path=path, kind="added", before=None, after=digest(data), recipes=(), proof=proof, diff=diff)


def _manifest(plan: Plan, changes: list[FileChange]) -> bytes:
    """port.json: marks the folder as ours and says what belongs to the port. Nothing of the day or the machine."""
    content = {
        "tool": "rocm3d",
        "version": __version__,
        "gpu": plan.gpu.product,
        "gfx": plan.gpu.gfx,
        "stack": plan.stack.id if plan.stack else None,
        "edited": {c.path: {"before": c.before, "after": c.after, "recipes": c.recipes} for c in changes if c.before},
        "added": sorted(change.path for change in changes if change.before is None),
    }
    return (json.dumps(content, indent=2) + "\n").encode()


def _diff(path: str, before: bytes | None, after: bytes) -> str:
    old, new = ("" if text is None else text.decode("utf-8", "replace") for text in (before, after))
    source = "/dev/null" if before is None else f"a/{path}"
    lines = difflib.unified_diff(_lines(old), _lines(new), source, f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    """Lines as git sees them: only a newline ends one, so CRLF and form feeds stay inside."""
    *whole, last = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([last] if last else [])]
