"""What a call names: a file, or a folder and the files in it that can be chosen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rocm3d.artifact.check import check
from rocm3d.model.failure import UserError
from rocm3d.viewer.folder import found, like
from rocm3d.viewer.open import refuse

if TYPE_CHECKING:
    from rocm3d.model.artifact import Artifact

MOST = 2


@dataclass(frozen=True)
class Source:
    """`first` is shown, the others can be chosen; of a file there are no others."""

    path: Path
    first: Artifact
    choices: tuple[Artifact, ...]

    @property
    def named(self) -> dict[str, Artifact]:
        """The choices by the names that a list shows: relative to the folder."""
        root = self.path if self.path.is_dir() else self.path.parent
        return {Path(item.path).relative_to(root).as_posix(): item for item in self.choices}


def sources(paths: list[Path]) -> list[Source]:
    """One or two. A second folder shows the file that is called as that of the first, where it has one."""
    if len(paths) > MOST:
        raise UserError(f"{len(paths)} were named: one is shown, or two side by side")
    opened: list[Source] = []
    for path in paths:
        if path.is_dir():
            items = found(path)
            first = like(items, opened[0].first.path) if opened else items[0]
            opened.append(Source(path, first, tuple(items)))
            continue
        if not path.exists():
            raise UserError(f"{path} is not there")
        artifact = check(path)
        refuse(artifact)
        opened.append(Source(path, artifact, (artifact,)))
    return opened
