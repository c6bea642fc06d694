"""What the user passed to `rocm3d view`: a file, or a folder with its drawable files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.check import check
from rocm3d.model.errors import UserError
from rocm3d.viewer.folder import find_drawable, with_name_of
from rocm3d.viewer.open import refuse_undrawable

if TYPE_CHECKING:
    from rocm3d.model.artifact import Artifact

MAX_SOURCES = 2


@dataclass(frozen=True)
class ViewSource:
    """`first` is shown at the start. `choices` includes it; a file has no other choices."""

    path: Path
    first: Artifact
    choices: tuple[Artifact, ...]

    @property
    def choices_by_name(self) -> dict[str, Artifact]:
        """The choices by their path relative to the folder, as the list shows them."""
        root = self.path if self.path.is_dir() else self.path.parent
        return {Path(item.path).relative_to(root).as_posix(): item for item in self.choices}


def open_sources(paths: list[Path]) -> list[ViewSource]:
    """One or two sources. A second folder starts with the file of the same name as the first, if there is one."""
    if len(paths) > MAX_SOURCES:
        raise UserError(f"{len(paths)} paths given; rocm3d view shows one, or two side by side")
    opened: list[ViewSource] = []
    for path in paths:
        if path.is_dir():
            artifacts = find_drawable(path)
            first = with_name_of(artifacts, opened[0].first.path) if opened else artifacts[0]
            opened.append(ViewSource(path, first, tuple(artifacts)))
            continue
        if not path.exists():
            raise UserError(f"{path} does not exist")
        artifact = check(path)
        refuse_undrawable(artifact)
        opened.append(ViewSource(path, artifact, (artifact,)))
    return opened
