"""Device files that GPU programs open, and whether the user has access."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.snapshot import DeviceFile

if TYPE_CHECKING:
    from rocm3d.host.files import Files

PATHS = ("/dev/kfd", "/dev/dxg")
RENDER = "/dev/dri"


@dataclass(frozen=True)
class User:
    """User and group ids; group names come from /etc/group of the machine."""

    uid: int
    groups: frozenset[int]

    @classmethod
    def here(cls) -> User:
        """The user of this process."""
        return cls(os.geteuid(), frozenset((*os.getgroups(), os.getegid())))


def read_devices(files: Files, user: User) -> tuple[DeviceFile, ...]:
    """/dev/kfd and /dev/dxg if they exist, and every render node."""
    names = _groups(files)
    nodes = filter(re.compile(r"renderD\d{1,6}").fullmatch, files.match(RENDER, "renderD*"))
    paths = [*PATHS, *(f"{RENDER}/{name}" for name in nodes)]
    return tuple(found for path in paths if (found := _device(files, path, user, names)) is not None)


def group_names(files: Files, user: User) -> tuple[str, ...]:
    """The user's groups that own a device, and render and video. Other groups are private and left out."""
    names = _groups(files)
    owning = {device.group for device in read_devices(files, user)}
    mine = (names.get(number, str(number)) for number in user.groups)
    return tuple(sorted(name for name in mine if name in owning or name in ("render", "video")))


def _device(files: Files, path: str, user: User, names: dict[int, str]) -> DeviceFile | None:
    place = files.path(path)
    try:
        about = place.stat()
    except OSError:
        return None
    return DeviceFile(
        path=path,
        usable=os.access(place, os.R_OK | os.W_OK),
        group=names.get(about.st_gid, str(about.st_gid)),
        member=about.st_gid in user.groups,
        mode=stat.filemode(about.st_mode),
    )


def _groups(files: Files) -> dict[int, str]:
    found = {}
    for line in files.text("/etc/group").splitlines():
        parts = line.split(":")
        named = len(parts) >= 3 and re.fullmatch(r"[A-Za-z0-9_][\w.-]{0,63}", parts[0])
        if named and re.fullmatch(r"[0-9]{1,10}", parts[2]):
            found[int(parts[2])] = parts[0]
    return found
