"""The apply stage: makes every planned edit that is proven, adds the port's files, and reports refused edits."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from itertools import groupby
from typing import Any

from rocm3d import __version__
from rocm3d.apply.addition import additions
from rocm3d.apply.edits import Edits
from rocm3d.apply.git_patch import file_diff, mail_patch
from rocm3d.apply.request import ApplyRequest
from rocm3d.apply.review_message import review_message
from rocm3d.apply.template import one_line
from rocm3d.model.errors import UserError
from rocm3d.model.patch import FileChange, Patch, Proof
from rocm3d.model.plan import Plan
from rocm3d.model.toml import TomlError, parse
from rocm3d.syntax.isolation import BLOCK_BEGIN, BLOCK_END, MANIFEST_FILE, PROJECT_FILE, SDIST_TABLE
from rocm3d.workspace.journal import digest
from rocm3d.workspace.tree import Tree

MANIFEST = "port.json"
_BACKEND = "hatchling.build"
# If this file exists, hatchling ignores its settings in pyproject.toml.
_HATCH_SETTINGS_FILE = "hatch.toml"


@dataclass(frozen=True)
class ApplyOutcome:
    """The patch, and the bytes to write. `submodule_contents` are not written: submodule files that have or had edits.

    `originals` are the files before their edits; `commit` is the complete change as one file for git.
    """

    patch: Patch
    contents: Mapping[str, bytes]
    submodule_contents: Mapping[str, bytes]
    originals: Mapping[str, bytes]
    commit: bytes


def apply(plan: Plan, tree: Tree, request: ApplyRequest, earlier: Patch | None = None) -> ApplyOutcome:
    """Compute the port. The patch is cumulative: it compares with the original tree, even after earlier applies."""
    refuse_foreign_folder(tree, request.folder, own=request.originals)
    edits = Edits(tree, request, earlier)
    for path, planned in groupby(sorted(plan.edits, key=lambda edit: edit.path), key=lambda edit: edit.path):
        edits.edit_file(path, list(planned))
    for path, data in sdist_exclusions(tree, request.folder):
        edits.add_proven(path, data)
    edits.carry_over_earlier()
    submodule_patches = edits.submodule_patches()
    # Sorted by path, because edits that an interrupted apply left behind come in another order.
    edited = {path: data for path, data in sorted(edits.contents.items()) if edits.submodule_of(path) is None}
    # Additions quote line numbers: use those of the originals, so that a second apply writes the same files.
    before = replace(tree, overlay={**tree.overlay, **request.originals}, _sizes=None)
    added = {
        f"{request.folder}/{path}": data
        for render in additions().values()
        for path, data in render(plan, before, request.folder).items()
    }
    added |= {record.file: data for record, data in submodule_patches}
    added |= {f"{request.folder}/{path}": data for path, data in request.dependency_patches.items()}
    changes = [edits.file_change(path) for path in edited]
    added[f"{request.folder}/{MANIFEST}"] = _manifest(plan, changes, added)
    changes += [_added_file(path, data) for path, data in added.items()]
    patch = Patch(
        repository=plan.repository,
        folder=request.folder,
        dry_run=request.dry_run,
        changes=tuple(sorted(changes, key=lambda change: change.path)),
        refused=tuple(edits.refused),
        left=plan.left,
        modules=tuple(record for record, _ in submodule_patches),
    )
    ported = {**edited, **added}
    diffs = [file_diff(path, None if path in added else edits.original(path), ported[path]) for path in sorted(ported)]
    in_submodules = {**edits.restored, **edits.contents}
    submodule_contents = {path: data for path, data in in_submodules.items() if edits.submodule_of(path) is not None}
    restored = {path: data for path, data in edits.restored.items() if path not in submodule_contents}
    return ApplyOutcome(
        patch,
        {**restored, **ported},
        submodule_contents,
        {path: edits.original(path) for path in edits.contents},
        mail_patch(f"Build and run with ROCm on {plan.gpu.title}", _commit_message(patch), diffs),
    )


def refuse_foreign_folder(tree: Tree, folder: str, own: Collection[str] = ()) -> None:
    """Raises UserError if the folder has files and was not made by rocm3d. `own`: paths that an apply wrote."""
    inside = [path for path in tree.paths() if path.startswith(f"{folder}/") and path not in own]
    if inside and not is_port_folder(tree, folder):
        raise UserError(f"{folder}/ exists and was not made by rocm3d", hint="choose another folder with --folder")


def is_port_folder(tree: Tree, folder: str) -> bool:
    """Whether the folder has a manifest of rocm3d."""
    data = tree.read(f"{folder}/{MANIFEST}") if f"{folder}/{MANIFEST}" in tree else None
    try:
        return isinstance(manifest := json.loads(data or b"null"), dict) and manifest.get("tool") == "rocm3d"
    except (ValueError, RecursionError):
        return False


def _added_file(path: str, data: bytes) -> FileChange:
    proof = Proof(kind="added-file", holds=True, detail="new file in the port folder; nothing imports it")
    diff = file_diff(path, None, data).decode("utf-8", "replace")
    return FileChange(path=path, kind="added", before=None, after=digest(data), recipes=(), proof=proof, diff=diff)


def _manifest(plan: Plan, edited: list[FileChange], added: Iterable[str]) -> bytes:
    """port.json: marks the folder as made by rocm3d and lists the port's files. Independent of date and machine."""
    content = {
        "tool": "rocm3d",
        "version": __version__,
        "gpu": plan.gpu.product,
        "gfx": plan.gpu.gfx,
        "stack": plan.stack.id if plan.stack else None,
        "edited": {c.path: {"before": c.before, "after": c.after, "recipes": c.recipes} for c in edited},
        "added": sorted(added),
    }
    return (json.dumps(content, indent=2) + "\n").encode()


def _commit_message(patch: Patch) -> str:
    edited = [change for change in patch.changes if change.kind == "edited"]
    lines = [f"- {one_line(change.path)}: {', '.join(change.recipes) or change.proof.detail}" for change in edited]
    if not lines:
        return f"Everything new lies in {patch.folder}/. No existing file is edited.\n"
    text = (
        f"Everything new lies in {patch.folder}/. Every edit of an existing file is guarded, and was proven\n"
        "to leave it as it was without ROCm:\n\n"
    )
    return text + "\n".join(lines) + review_message(edited)


def sdist_exclusions(tree: Tree, folder: str) -> Iterator[tuple[str, bytes]]:
    """Files that control the contents of source distributions, edited so that they leave the port folder out.

    The commands of MANIFEST.in are those of https://setuptools.pypa.io/en/latest/userguide/miscellaneous.html.
    hatchling includes every file that git does not ignore: https://hatch.pypa.io/latest/config/build/#file-selection.
    """
    for path, edited in (
        (MANIFEST_FILE, manifest_without_folder(tree, folder)),
        (PROJECT_FILE, project_without_folder(tree, folder)),
    ):
        if edited is not None:
            yield path, edited


def manifest_without_folder(tree: Tree, folder: str) -> bytes | None:
    """MANIFEST.in with a `prune` command appended; None if it is missing or does not include the folder."""
    data = tree.read(MANIFEST_FILE) if MANIFEST_FILE in tree else None
    if (
        data is None
        or b"\0" in data
        or BLOCK_BEGIN in data
        or not _includes_folder(data, folder)
        or not _has_no_pattern_characters(folder)
    ):
        return None
    return _with_block(data, f"prune {folder}")


def project_without_folder(tree: Tree, folder: str) -> bytes | None:
    """pyproject.toml with an sdist table appended; None if hatchling is not used or already has such settings."""
    data = tree.read(PROJECT_FILE) if PROJECT_FILE in tree and _HATCH_SETTINGS_FILE not in tree else None
    if data is None or BLOCK_BEGIN in data or not _has_no_pattern_characters(folder):
        return None
    try:
        document = parse(data)
    except TomlError:
        return None
    if _table(document, "build-system").get("build-backend") != _BACKEND:
        return None
    # Settings of the sdist target replace the general ones: an existing list would be lost or defined twice.
    if _table(document, *SDIST_TABLE) or "exclude" in _table(document, *SDIST_TABLE[:3]):
        return None
    return _with_block(data, f"[{'.'.join(SDIST_TABLE)}]", f'exclude = ["/{folder}"]')


def _with_block(data: bytes, *lines: str) -> bytes:
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    start = data if data.endswith(b"\n") or not data else data + newline
    return start + newline.join([BLOCK_BEGIN, *(line.encode() for line in lines), BLOCK_END, b""])


def _table(document: dict[str, Any], *names: str) -> dict[str, Any]:
    table: Any = document
    for name in names:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else {}


def _includes_folder(data: bytes, folder: str) -> bool:
    lines = data.decode("utf-8", "replace").replace("\\\r\n", " ").replace("\\\n", " ").splitlines()
    return any(_command_includes(line.partition("#")[0].split(), folder) for line in lines)


def _command_includes(words: list[str], folder: str) -> bool:
    match words:
        case ["global-include", *_]:
            return True
        case ["graft" | "recursive-include", where, *_]:
            return where.strip("/") in (".", "") or fnmatch(folder, where.strip("/").split("/")[0])
        case ["include", *patterns]:
            return any("/" in text and fnmatch(folder, text.split("/")[0]) for text in patterns)
    return False


def _has_no_pattern_characters(folder: str) -> bool:
    return not set(folder) & set("*?[] \t#\\")
