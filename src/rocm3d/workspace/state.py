"""Where rocm3d keeps things: a repository's own .rocm3d/ folder, and the user's cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from pathlib import Path

import platformdirs

from rocm3d.model.failure import UserError

FOLDER = ".rocm3d"
PORT = "rocm-port"  # the port's own folder inside a target
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# made by rocm3d\n"


def state_folder(root: Path) -> Path:
    """`root`/.rocm3d, which hides itself from git; raises OSError where the tree cannot be written."""
    folder = root / FOLDER
    if folder.is_symlink():
        raise UserError(f"{folder} is a symlink; rocm3d does not write through it", hint="remove it, or use --work DIR")
    folder.mkdir(exist_ok=True)
    # "x": never through a link that somebody put there.
    with contextlib.suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as marker:
        marker.write("*\n")
    return folder


def work_folder(root: Path, asked: Path | None) -> Path:
    """Where a repository's documents go: --work DIR, else PATH/.rocm3d, else the cache if PATH is read-only."""
    if asked is not None:
        try:
            asked.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--work {asked}: {error.strerror}") from error
        return asked
    # access() and not a trial write: root may write where the mode says no, and then a trial write is right.
    if os.access(root, os.W_OK) and (not (root / FOLDER).exists() or os.access(root / FOLDER, os.W_OK)):
        try:
            return state_folder(root)
        except OSError:
            pass  # a read-only file system lets access() say yes; fall through to the cache
    digest = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    folder = cache_folder() / "work" / f"{root.name}-{digest}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def cache_path() -> Path:
    """The user's cache folder of rocm3d; ROCM3D_CACHE overrides it. Does not create it."""
    asked = os.environ.get("ROCM3D_CACHE")
    # Resolved, as a cache linked to a scratch disk is cleared and made again where it really lies.
    return Path(asked or platformdirs.user_cache_dir("rocm3d", appauthor=False)).resolve()


def data_path() -> Path:
    """The user's data folder of rocm3d, for what nobody can make anew; ROCM3D_DATA overrides it. Does not create it."""
    asked = os.environ.get("ROCM3D_DATA")
    return Path(asked or platformdirs.user_data_dir("rocm3d", appauthor=False)).resolve()


def cache_folder() -> Path:
    """The cache folder, created and tagged so that backups skip it and `clear` knows it is ours."""
    folder = cache_path()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not _is_ours(folder):
            if any(folder.iterdir()):
                raise UserError(f"{folder} holds files that are not rocm3d's", hint="name another with ROCM3D_CACHE")
            (folder / "CACHEDIR.TAG").write_text(_TAG, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot make the cache folder {folder}: {error.strerror}", hint="set ROCM3D_CACHE") from error
    return folder


def _is_ours(folder: Path) -> bool:
    try:
        return (folder / "CACHEDIR.TAG").read_bytes() == _TAG.encode()
    except OSError:
        return False


def clear_cache() -> int:
    """Remove the cache folder if it is ours; the bytes freed."""
    folder = cache_path()
    if not folder.exists():
        return 0
    if not _is_ours(folder):
        raise UserError(f"{folder} was not made by rocm3d (no CACHEDIR.TAG of ours); not touching it")
    freed = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    shutil.rmtree(folder)
    return freed
