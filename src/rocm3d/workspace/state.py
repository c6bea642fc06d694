"""Folders of rocm3d: .rocm3d/ in a repository, the user's cache and data folders, and locks on files in them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import platformdirs

from rocm3d.model.errors import UserError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

STATE_FOLDER = ".rocm3d"
PORT_FOLDER = "rocm-port"  # the folder for added files in a repository
COPY_RECORD = "copy.json"  # in the state folder of a copy for a port
DEPENDENCY_LIST = "dependencies.json"  # in the state folder: git dependencies that were fetched
_CACHE_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# made by rocm3d\n"
_TIMEOUT_SECONDS, _POLL_SECONDS = 20.0, 0.02


def state_folder(root: Path) -> Path:
    """Create `root`/.rocm3d with a .gitignore that hides it. Raises OSError if the tree is not writable."""
    folder = root / STATE_FOLDER
    if folder.is_symlink():
        raise UserError(f"{folder} is a symlink; rocm3d does not write through it", hint="remove it, or use --work DIR")
    folder.mkdir(exist_ok=True)
    # Mode "x" does not follow a symbolic link.
    with contextlib.suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as marker:
        marker.write("*\n")
    return folder


def work_folder(root: Path, requested: Path | None, *, create: bool = True) -> Path:
    """The folder for documents of a repository: --work DIR, else PATH/.rocm3d, or the cache if PATH is read-only.

    Without `create` the folder may be missing.
    """
    if requested is not None:
        if not create:
            return requested
        try:
            requested.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--work {requested}: {error.strerror}") from error
        return requested
    # access() respects the permissions of root, for whom a read-only mode does not matter.
    if os.access(root, os.W_OK) and (not (root / STATE_FOLDER).exists() or os.access(root / STATE_FOLDER, os.W_OK)):
        try:
            return state_folder(root) if create else root / STATE_FOLDER
        except OSError:
            pass  # access() does not detect every read-only file system; use the cache
    digest = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    folder = (cache_folder() if create else cache_path()) / "work" / f"{root.name}-{digest}"
    if create:
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def cache_path() -> Path:
    """The user's cache folder of rocm3d; ROCM3D_CACHE overrides it. Does not create it."""
    # Resolved, so that a cache that is a link to another disk is cleared and recreated there.
    return Path(os.environ.get("ROCM3D_CACHE") or platformdirs.user_cache_dir("rocm3d", appauthor=False)).resolve()


def data_path() -> Path:
    """The user's data folder of rocm3d, for data that cannot be recreated; ROCM3D_DATA overrides it. Not created."""
    return Path(os.environ.get("ROCM3D_DATA") or platformdirs.user_data_dir("rocm3d", appauthor=False)).resolve()


def cache_folder() -> Path:
    """Create the cache folder with a tag, so that backups skip it and `clear` recognises it."""
    folder = cache_path()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not _is_rocm3d_cache(folder):
            if any(folder.iterdir()):
                raise UserError(f"{folder} contains files of other programs", hint="set ROCM3D_CACHE to another folder")
            (folder / "CACHEDIR.TAG").write_text(_CACHE_TAG, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot create the cache {folder}: {error.strerror}", hint="set ROCM3D_CACHE") from error
    return folder


def _is_rocm3d_cache(folder: Path) -> bool:
    try:
        return (folder / "CACHEDIR.TAG").read_bytes() == _CACHE_TAG.encode()
    except OSError:
        return False


def clear_cache() -> int:
    """Remove the cache folder if rocm3d created it. Returns the number of bytes freed."""
    folder = cache_path()
    if not folder.exists():
        return 0
    if not _is_rocm3d_cache(folder):
        raise UserError(f"{folder} was not created by rocm3d (no CACHEDIR.TAG of rocm3d), so it was not removed")
    freed = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    shutil.rmtree(folder)
    return freed


@contextlib.contextmanager
def file_lock(path: Path, seconds: float = _TIMEOUT_SECONDS) -> Iterator[None]:
    """Hold an exclusive lock on `<file>.lock`, which ends with this process.

    The lock file is never removed: that would allow two holders.
    """
    lock = path.with_name(f"{path.name}.lock")
    with lock.open("a") as stream:
        deadline = time.monotonic() + seconds
        while not try_lock(stream.fileno()):
            if time.monotonic() > deadline:
                raise UserError(f"another rocm3d has held {lock} for {seconds:.0f} s", hint="retry when it is done")
            time.sleep(_POLL_SECONDS)
        yield


def try_lock(descriptor: int) -> bool:
    """Lock an open file, if no other process holds its lock. Raises OSError where the file system has no locks."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):  # the second one on Windows
        return False
    return True
