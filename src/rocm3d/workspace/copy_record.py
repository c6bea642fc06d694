"""What a copy for a port was made from: the commit, and the submodules with the digests of their committed files.

The copy has no data of git, so this is how rocm3d knows the commit that a patch is for. It is believed only with the
seal of this user: a repository can contain a forged one.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from rocm3d.model.base import Record, TreePath
from rocm3d.model.credentials import has_credentials
from rocm3d.model.errors import UserError
from rocm3d.workspace.documents import Documents
from rocm3d.workspace.git import head_commit, origin_url, uncommitted_paths
from rocm3d.workspace.journal import digest
from rocm3d.workspace.state import COPY_RECORD, STATE_FOLDER, state_folder
from rocm3d.workspace.submodule_sources import SubmoduleSource, submodule_sources
from rocm3d.workspace.tree import Tree


class CopiedSubmodule(Record):
    """A submodule of the copied repository. `files` are digests of what is as committed; empty if it is not there.

    `problem`: why it cannot be fetched.
    """

    path: TreePath
    url: str
    commit: str
    is_present: bool = False
    files: dict[str, str] = Field(default={})
    problem: str = ""


class CopyRecord(Record):
    """The repository that was copied. `commit` and `origin` are empty if git does not know them.

    `changed` are its uncommitted paths.
    """

    commit: str = ""
    origin: str = ""
    changed: tuple[str, ...] = ()
    submodules: tuple[CopiedSubmodule, ...] = ()

    @property
    def missing(self) -> tuple[SubmoduleSource, ...]:
        """The submodules that are not in the copy."""
        absent = (item for item in self.submodules if not item.is_present)
        return tuple(SubmoduleSource(item.path, item.url, item.commit, problem=item.problem) for item in absent)

    def with_fetched(self, root: Path, fetched: Iterable[SubmoduleSource]) -> CopyRecord:
        """The record after these submodules were put into the copy."""
        new = {
            item.path: CopiedSubmodule(
                path=item.path,
                url="" if has_credentials(item.url) else item.url,
                commit=item.commit,
                is_present=True,
                files=file_digests(root / item.path, []),
            )
            for item in fetched
        }
        others = (item for item in self.submodules if item.path not in new)
        return self.model_copy(update={"submodules": (*others, *new.values())})

    def submodule(self, path: str) -> CopiedSubmodule | None:
        """The submodule at this path that is present."""
        return next((item for item in self.submodules if item.path == path and item.is_present), None)


def record_of(source: Path) -> CopyRecord:
    """The record of a copy of this repository, taken before it is copied. A copy of a copy has the same."""
    earlier = read_copy_record(source) if not os.path.lexists(source / ".git") else None
    if earlier is not None:
        return earlier
    try:
        sources = submodule_sources(source)
        changed = uncommitted_paths(source) if os.path.lexists(source / ".git") else None
    except UserError:
        # Without their commits nothing is edited in submodules: their patches would be for no commit.
        unknown = (CopiedSubmodule(path=path, url="", commit="", is_present=True) for path in _inner_checkouts(source))
        return CopyRecord(submodules=tuple(unknown))
    return CopyRecord(
        commit=head_commit(source) or "",
        origin="" if has_credentials(origin := origin_url(source)) else origin,
        changed=tuple(changed or ()),
        submodules=tuple(_copied(source, item) for item in sources),
    )


def _inner_checkouts(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        if ".git" in (*folders, *files) and Path(folder) != root:
            yield Path(folder).relative_to(root).as_posix()
        folders[:] = [name for name in folders if name != ".git"]


def _copied(source: Path, item: SubmoduleSource) -> CopiedSubmodule:
    is_secret = has_credentials(item.url)
    return CopiedSubmodule(
        path=item.path,
        url="" if is_secret else item.url,
        commit=item.commit,
        is_present=item.is_checked_out,
        files=committed_digests(source, item.path) if item.is_checked_out else {},
        problem="its URL has credentials, which no copy gets" if is_secret else item.problem,
    )


def committed_digests(root: Path, path: str) -> dict[str, str]:
    """Digests of the files of a checkout that are as committed, by their path in it."""
    try:
        changed = uncommitted_paths(root / path)
    except UserError:
        return {}
    return {} if changed is None else file_digests(root / path, changed)


def file_digests(folder: Path, changed: list[str]) -> dict[str, str]:
    """Digests of the files of a folder, without changed files and changed folders (with a slash at their end)."""
    tree, omitted = Tree.open(folder), {".git", *changed}
    folders = tuple(name for name in changed if name.endswith("/"))
    unchanged = (name for name in tree.paths() if name not in omitted and not name.startswith(folders))
    contents = ((name, tree.read(name)) for name in unchanged)
    return {name: digest(data) for name, data in contents if data is not None}


def read_copy_record(root: Path) -> CopyRecord | None:
    """The record of a copy that this user\'s rocm3d made; None for any other folder."""
    if not os.path.lexists(root / STATE_FOLDER / COPY_RECORD):
        return None
    with contextlib.suppress(UserError, ValidationError):
        data = Documents(root / STATE_FOLDER).read_bytes(COPY_RECORD)
        return None if data is None else CopyRecord.model_validate_json(data)
    return None


def write_copy_record(root: Path, record: CopyRecord) -> None:
    """Mark a folder as a copy for a port."""
    Documents(state_folder(root)).write_own(COPY_RECORD, record.model_dump_json(indent=2).encode() + b"\n")
