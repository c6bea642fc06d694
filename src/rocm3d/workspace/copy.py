"""Copies a repository, so that the port does not change the original."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from rocm3d.model.errors import UserError
from rocm3d.workspace.state import STATE_FOLDER


def copy_tree(source: Path, into: Path) -> None:
    """Copy everything except .rocm3d. Symbolic links stay links; sockets and pipes are omitted."""
    if into.exists() and (not into.is_dir() or any(into.iterdir())):
        raise UserError(f"--into {into} already exists and is not empty", hint="pass a folder that does not exist yet")
    if into.resolve().is_relative_to(source.resolve()):
        raise UserError(f"--into {into} is inside the repository", hint="pass a folder outside of it")
    try:
        shutil.copytree(source, into, symlinks=True, ignore=_names_to_omit, dirs_exist_ok=True)
    except shutil.Error as error:
        first = error.args[0][0]
        raise UserError(f"cannot copy {first[0]}: {first[2]}", hint="make it readable or remove it") from error
    except OSError as error:
        raise UserError(f"cannot copy to {into}: {error.strerror}") from error


def _names_to_omit(folder: str, names: list[str]) -> set[str]:
    special = {name for name in names if not _is_copyable(Path(folder) / name)}
    return special | ({STATE_FOLDER} & set(names))


def _is_copyable(path: Path) -> bool:
    mode = os.lstat(path).st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)
