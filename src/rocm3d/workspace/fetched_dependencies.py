"""Git dependencies that `port --submodules` fetched at their commits: their files lie in .rocm3d, out of the tree."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from pydantic import ValidationError

from rocm3d.model.base import Record
from rocm3d.model.errors import UserError
from rocm3d.model.inventory import UnscannedCode
from rocm3d.workspace.documents import Documents
from rocm3d.workspace.state import DEPENDENCY_LIST, STATE_FOLDER, state_folder

FOLDER = "dependencies"


class FetchedDependency(Record):
    """A repository at a commit. `unscanned` is what its scan could not see."""

    name: str
    url: str
    commit: str
    unscanned: tuple[UnscannedCode, ...] = ()

    @property
    def label(self) -> str:
        """Its name in texts and the name of its folder."""
        return f"{self.name}@{self.commit[:12]}"

    def folder(self, root: Path) -> Path:
        """Where its files are."""
        return root / STATE_FOLDER / FOLDER / self.label


class _Stored(Record):
    dependencies: tuple[FetchedDependency, ...]


def read_fetched_dependencies(root: Path) -> tuple[FetchedDependency, ...]:
    """Those of this user's rocm3d whose files are there; none from a list that came with the repository."""
    if not os.path.lexists(root / STATE_FOLDER / DEPENDENCY_LIST):
        return ()
    with contextlib.suppress(UserError, ValidationError):
        data = Documents(root / STATE_FOLDER).read_bytes(DEPENDENCY_LIST)
        stored = () if data is None else _Stored.model_validate_json(data).dependencies
        return tuple(item for item in stored if item.folder(root).is_dir())
    return ()


def write_fetched_dependencies(root: Path, dependencies: tuple[FetchedDependency, ...]) -> None:
    """Replace the list."""
    text = _Stored(dependencies=dependencies).model_dump_json(indent=2)
    Documents(state_folder(root)).write_own(DEPENDENCY_LIST, text.encode() + b"\n")
