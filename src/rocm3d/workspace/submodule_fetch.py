"""Puts the files of submodules into a tree, at the commits that the repository has recorded.

Each submodule is fetched beside the tree, in .rocm3d, and moved to its place when it is complete.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from rocm3d.model.credentials import without_credentials
from rocm3d.model.errors import UserError
from rocm3d.workspace.fetch import FetchError, fetch_checkout, opened_fetch, store_origin
from rocm3d.workspace.state import state_folder
from rocm3d.workspace.submodule_sources import MAX_DEPTH, SubmoduleSource, submodules_of_commit
from rocm3d.workspace.tree import open_folder, path_parts

MAX_SUBMODULES = 64
FETCH_PREFIX = "fetch-"


@dataclass(frozen=True)
class FailedSubmodule:
    """A submodule that was not fetched."""

    path: str
    reason: str

    @property
    def text(self) -> str:
        return f"submodule {self.path} was not fetched: {self.reason}"


@dataclass
class SubmoduleFetch:
    """Fetches into one tree. With `keep_git` each submodule is a checkout; without it, its files alone remain."""

    root: Path
    progress: Callable[[str], None]
    keep_git: bool

    def __post_init__(self) -> None:
        self.fetched: list[SubmoduleSource] = []
        self.failed: list[FailedSubmodule] = []

    def fetch_all(self, sources: Iterable[SubmoduleSource]) -> None:
        """Fetch these and the submodules in them. What fails is in `failed`, with the reason."""
        pending = deque((source, 0) for source in sources)
        while pending:
            source, depth = pending.popleft()
            try:
                if source.problem:
                    raise FetchError(source.problem)
                if depth > MAX_DEPTH or len(self.fetched) >= MAX_SUBMODULES:
                    raise FetchError(
                        f"more than {MAX_SUBMODULES} submodules, or more than {MAX_DEPTH} inside each other"
                    )
                nested = self._fetch(source)
            except UserError as error:
                self.failed.append(FailedSubmodule(source.path, error.message))
                continue
            self.fetched.append(source)
            pending += ((replace(item, path=f"{source.path}/{item.path}"), depth + 1) for item in nested)

    def _fetch(self, source: SubmoduleSource) -> tuple[SubmoduleSource, ...]:
        *folders, name = path_parts(source.path)
        self._refuse_files(source.path)
        self.progress(f"fetching {source.path} from {without_credentials(source.url)}")
        try:
            with tempfile.TemporaryDirectory(dir=state_folder(self.root), prefix=FETCH_PREFIX) as scratch:
                checkout = Path(scratch) / "checkout"
                fetch_checkout(source.url, source.commit, checkout)
                git = opened_fetch(checkout)
                nested = submodules_of_commit(git, source.commit, checkout / ".gitmodules", source.url)
                if self.keep_git:
                    store_origin(checkout, source.url)
                else:
                    shutil.rmtree(checkout / ".git")
                with open_folder(self.root, folders, create=True) as parent:
                    _replace_empty_folder(checkout, name, parent)
        except OSError as error:
            raise FetchError(f"cannot write {source.path}: {error.strerror}") from error
        return nested

    def _refuse_files(self, path: str) -> None:
        target = self.root / path
        if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
            raise FetchError(f"{path} has files already")


def _replace_empty_folder(source: Path, name: str, parent: int) -> None:
    """Move a folder to a name in an open folder; only an empty folder may be there."""
    if name in os.listdir(parent):
        os.rmdir(name, dir_fd=parent)
    os.rename(source, name, dst_dir_fd=parent)
