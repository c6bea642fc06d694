"""A small file system of its own for one process: a tmpfs in a mount namespace that nobody else has."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from attacks.cases import NotRunError

BLOCK = 4096
_NEW_MOUNTS, _NEW_USERS = 0x00020000, 0x10000000
_PRIVATE_BELOW = 0x40000 | 0x4000
_DETACH = 2

_entered: list[bool] = []


def mount_tmpfs(folder: Path, size: int, files: int = 0) -> None:
    """Mount a tmpfs of this size, with a limit of files unless 0. NotRunError if this machine forbids it."""
    _enter()
    folder.mkdir(parents=True, exist_ok=True)
    options = f"size={size},mode=0755" + (f",nr_inodes={files}" if files else "")
    _call("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", 0, options.encode())


def unmount(folder: Path) -> None:
    """Unmount it; what lies in it is gone."""
    _call("umount2", os.fsencode(folder), _DETACH)


def free_bytes(folder: Path) -> int:
    """Free space."""
    numbers = os.statvfs(folder)
    return numbers.f_bavail * numbers.f_frsize


def used_files(folder: Path) -> int:
    """Files, folders and links on the file system."""
    numbers = os.statvfs(folder)
    return numbers.f_files - numbers.f_ffree


def _enter() -> None:
    """Move this process into a mount namespace of its own, once."""
    if _entered:
        return
    user, group = os.getuid(), os.getgid()
    _call("unshare", _NEW_MOUNTS if user == 0 else _NEW_MOUNTS | _NEW_USERS)
    if user != 0:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
    _call("mount", b"none", b"/", None, _PRIVATE_BELOW, None)
    _entered.append(True)


def _call(name: str, *arguments: object) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments) != 0:
        reason = os.strerror(ctypes.get_errno())
        raise NotRunError(f"a small file system cannot be mounted here: {name}: {reason}")
