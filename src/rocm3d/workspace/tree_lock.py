"""One lock per tree: what changes a tree holds it from the first read to the last write.

It is a lock of the kernel on .rocm3d/lock, so it ends with its process, however that ends.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import socket
import stat
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from rocm3d.model.errors import UserError
from rocm3d.workspace.state import STATE_FOLDER, state_folder, try_lock

LOCK_FILE = "lock"
WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.05
_MAX_BYTES = 4096
_MOUNTS = Path("/proc/self/mountinfo")
# Network file systems, and the mount options with which a lock does not reach other machines.
_LOCAL_LOCK_OPTIONS = {
    "nfs": {"nolock", "local_lock=flock", "local_lock=all"},
    "nfs4": {"nolock", "local_lock=flock", "local_lock=all"},
    "lustre": {"localflock", "noflock"},
    "cifs": {"nobrl", "forcemandatorylock"},
    "smb3": {"nobrl", "forcemandatorylock"},
}
# File systems over a network whose locks, if any, are those of one machine.
_WITHOUT_LOCKS = frozenset({"9p", "fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.gcsfuse", "fuse.goofys"})
_UNSUPPORTED = {errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EBADF}


@contextlib.contextmanager
def lock_tree(
    root: Path, command: str, progress: Callable[[str], None], seconds: float = WAIT_SECONDS
) -> Iterator[None]:
    """Hold the lock of a tree. Raises UserError that names the holder if it is not free in time."""
    _refuse_local_locks(root)
    descriptor = _acquire(root, progress, time.monotonic() + seconds)
    try:
        # On a full disk a lock without the name of its holder is still a lock.
        with contextlib.suppress(OSError):
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, _holder(command), 0)
        yield
    finally:
        with contextlib.suppress(OSError):
            os.truncate(descriptor, 0)
        os.close(descriptor)


@contextlib.contextmanager
def lock_to_read(root: Path, progress: Callable[[str], None], seconds: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock of a tree while it is read, if rocm3d has changed it before. Writes nothing to the tree."""
    descriptor = _acquire_existing(root, progress, time.monotonic() + seconds)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _acquire_existing(root: Path, progress: Callable[[str], None], deadline: float) -> int | None:
    """None if there is no lock, or the file system has none for readers."""
    while (descriptor := _open_existing(root)) is not None:
        try:
            is_held = try_lock(descriptor)
        except OSError:
            os.close(descriptor)
            return None
        if is_held:
            return descriptor
        text = os.pread(descriptor, _MAX_BYTES, 0)
        os.close(descriptor)
        _wait(root, text, progress, deadline)
    return None


def _acquire(root: Path, progress: Callable[[str], None], deadline: float) -> int:
    while True:
        descriptor = _open(root)
        try:
            is_held = try_lock(descriptor)
        except OSError as error:
            os.close(descriptor)
            if error.errno in _UNSUPPORTED:
                raise _no_locks(root, str(error.strerror)) from error
            raise UserError(f"cannot lock {root}: {error.strerror}") from error
        if is_held and _is_current(root, descriptor):
            return descriptor
        text = os.pread(descriptor, _MAX_BYTES, 0)
        os.close(descriptor)
        if is_held:
            continue  # somebody removed .rocm3d between open and lock
        _wait(root, text, progress, deadline)


def _wait(root: Path, holder: bytes, progress: Callable[[str], None], deadline: float) -> None:
    message = f"another rocm3d is working on {root}: {_describe(holder)}"
    if time.monotonic() > deadline:
        raise UserError(message, hint="retry when it is done")
    progress(f"waiting: {message}")
    time.sleep(_POLL_SECONDS)


def _open(root: Path) -> int:
    """The lock file; never through a link, and never another file, which a repository or an archive could contain."""
    try:
        path = state_folder(root) / LOCK_FILE
    except OSError as error:
        message = f"cannot write {root / STATE_FOLDER}: {error.strerror}; nothing was changed"
        raise UserError(message, hint="use --into DIR for a ported copy") from error
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise UserError(f"cannot open {path}: {error.strerror}", hint=f"remove {STATE_FOLDER}/{LOCK_FILE}") from error
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise UserError(f"{path} is not a regular file", hint="remove it")
    if status.st_nlink > 1:  # its content is replaced: under its other name it may be a file of the repository
        os.close(descriptor)
        raise UserError(f"{path} is a second name of another file", hint="remove it")
    return descriptor


def _open_existing(root: Path) -> int | None:
    """The lock file of an earlier change; None if there is none."""
    path = root / STATE_FOLDER / LOCK_FILE
    if path.parent.is_symlink():
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def _is_current(root: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(root / STATE_FOLDER / LOCK_FILE))
    except FileNotFoundError:
        return False


def _holder(command: str) -> bytes:
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    return json.dumps({"command": command, "pid": os.getpid(), "host": socket.gethostname(), "since": now}).encode()


def _describe(text: bytes) -> str:
    """The holder, from a file that anybody may have written."""
    try:
        holder = json.loads(text)
        pid, command = int(holder["pid"]), str(holder["command"])
        host, since = str(holder["host"]), str(holder["since"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return "unknown process"
    words = f"rocm3d {command}, process {pid} on {host} since {since}"
    return "".join(letter for letter in words if letter.isprintable())[:200]


def _refuse_local_locks(root: Path) -> None:
    kind, options = _mount(root)
    if kind in _WITHOUT_LOCKS:
        raise _no_locks(root, f"{kind} has no locks between machines")
    without = _LOCAL_LOCK_OPTIONS.get(kind, set()) & options
    if without:
        raise _no_locks(root, f"{kind} is mounted with {', '.join(sorted(without))}")


def _no_locks(root: Path, reason: str) -> UserError:
    return UserError(
        f"{root} cannot be locked against a second rocm3d: {reason}", hint="port a copy on a local disk with --into DIR"
    )


def _mount(root: Path) -> tuple[str, set[str]]:
    """File system type and options of the mount that holds a path; empty where the system does not list mounts."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return "", set()
    best: tuple[int, str, set[str]] = (-1, "", set())
    for line in lines:
        fields, _, rest = line.partition(" - ")
        words, details = fields.split(), rest.split()
        if len(words) < 6 or len(details) < 3:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), words[4]))
        # The last of equally long mount points hides the others.
        if root.is_relative_to(point) and len(point.parts) >= best[0]:
            best = len(point.parts), details[0], {*words[5].split(","), *details[2].split(",")}
    return best[1], best[2]
