"""Ports repositories from mirrors: checkout, apply, and a check of apply's guarantees."""

from __future__ import annotations

import difflib
import io
import subprocess
import tarfile
from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mirrors import Mirror

from rocm3d.pipeline import FOLDER, ApplyOptions, Repository
from rocm3d.syntax.isolation import prove_isolation
from rocm3d.syntax.isolation_facts import read_facts
from rocm3d.workspace.state import STATE_FOLDER as STATE
from rocm3d.workspace.tree import Tree

if TYPE_CHECKING:
    from rocm3d.knowledge.base import Knowledge
    from rocm3d.model.patch import Patch


@dataclass(frozen=True)
class EditSize:
    """Lines added to and removed from existing files."""

    added: int
    removed: int
    files: int

    @property
    def total_lines(self) -> int:
        """Added plus removed lines."""
        return self.added + self.removed

    def __str__(self) -> str:
        return f"+{self.added} -{self.removed} in {self.files}"


@dataclass(frozen=True)
class PortedCheckout:
    """The result of apply. `edits` are the edited files, `broken` the guarantees that did not hold."""

    patch: Patch
    edits: dict[str, bytes]
    originals: dict[str, bytes]
    proofs: Counter[str]
    broken: tuple[str, ...]

    @property
    def size(self) -> EditSize:
        """Size of the edits, without added files."""
        return edit_size(self.originals, self.edits)


def checkout(mirrors: Path, repository: str, commit: str, folder: Path, submodules: list[dict[str, str]]) -> Path:
    """Write all files of a commit and of its submodules."""
    parts = [{"path": ".", "repository": repository, "commit": commit}, *submodules]
    for item in parts:
        mirror = Mirror.of(mirrors, item["repository"]).folder
        command = ["git", "-C", str(mirror), "archive", item["commit"]]
        data = subprocess.run(command, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(folder / item["path"], filter="data")
    return folder


def port_and_undo(folder: Path, knowledge: Knowledge, gpu: str, *, safe_only: bool = False) -> PortedCheckout:
    """Apply, apply again, undo. The folder is restored afterwards; if not, `broken` says so."""
    before = file_digests(folder)
    repository = Repository(folder, knowledge, cached=True)
    product = knowledge.gpu(gpu)
    patch = repository.apply(repository.plan(product), ApplyOptions(safe_only))
    once = file_digests(folder)
    edited = [change.path for change in patch.changes if change.kind == "edited"]
    edits = {path: (folder / path).read_bytes() for path in edited}
    again = repository.apply(repository.plan(product), ApplyOptions(safe_only))
    broken = (
        []
        if file_digests(folder) == once
        else [f"apply is not idempotent: {_differing_names(once, file_digests(folder))}"]
    )
    if [change.after for change in again.changes] != [change.after for change in patch.changes]:
        broken.append("the second patch differs from the first")
    repository.undo(keep_changed=False)
    if file_digests(folder) != before:
        broken.append(f"undo does not restore: {_differing_names(before, file_digests(folder))}")
    originals = {path: (folder / path).read_bytes() for path in edited}
    proofs = Counter(change.proof.kind for change in patch.changes if change.kind == "edited")
    facts = read_facts(Tree.open(folder))
    proven = {path: prove_isolation(path, originals[path], edits[path], facts) for path in edited}
    broken += [f"{path} is not proven: {proof.detail}" for path, proof in proven.items() if not proof.holds]
    added = set(once) - set(before)
    broken += [f"{path} was added outside of {FOLDER}" for path in added if not path.startswith(f"{FOLDER}/")]
    return PortedCheckout(patch, edits, originals, proofs, tuple(broken))


def file_digests(folder: Path) -> dict[str, str]:
    """Digests of every file and link of a tree, without rocm3d's own state."""
    by_path = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.split("/")[0] == STATE:
            continue
        if path.is_symlink():
            by_path[name] = f"-> {path.readlink()}"
        elif path.is_file():
            by_path[name] = sha256(path.read_bytes()).hexdigest()
        elif not any(path.iterdir()):
            by_path[f"{name}/"] = "an empty folder"
    return by_path


def edit_size(before: dict[str, bytes], after: dict[str, bytes]) -> EditSize:
    """Size of the changes in files of `before`."""
    added = removed = files = 0
    for path, old in before.items():
        new = after.get(path, old)
        if new == old:
            continue
        files += 1
        matcher = difflib.SequenceMatcher(None, old.split(b"\n"), new.split(b"\n"), autojunk=False)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            if tag != "equal":
                removed, added = removed + i2 - i1, added + j2 - j1
    return EditSize(added, removed, files)


def human_size(base: Path, other: Path, suffixes: tuple[str, ...]) -> EditSize:
    """Size of a human port, over build files that are in both trees."""
    before = {name: (base / name).read_bytes() for name in file_digests(base) if _is_counted(base / name, suffixes)}
    after = {name: (other / name).read_bytes() for name in before if _is_counted(other / name, suffixes)}
    return edit_size(before, after)


def _is_counted(path: Path, suffixes: tuple[str, ...]) -> bool:
    return path.is_file() and not path.is_symlink() and path.name.endswith(suffixes)


def _differing_names(one: dict[str, Any], other: dict[str, Any]) -> str:
    names = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
