"""Device files that GPU programs open, and whether the user has access."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rocm3d.model.snapshot import DeviceFile

if TYPE_CHECKING:
    from rocm3d.host.files import MachineFiles

DEVICE_PATHS = ("/dev/kfd", "/dev/dxg")
RENDER_FOLDER = "/dev/dri"


@dataclass(frozen=True)
class User:
    """User and group ids; group names come from /etc/group of the machine."""

    uid: int
    groups: frozenset[int]

    @classmethod
    def current(cls) -> User:
        """The user of this process."""
        return cls(os.geteuid(), frozenset((*os.getgroups(), os.getegid())))


def read_devices(files: MachineFiles, user: User) -> tuple[DeviceFile, ...]:
    """/dev/kfd and /dev/dxg if they exist, and every render node."""
    names = _group_names_by_id(files)
    nodes = filter(re.compile(r"renderD\d{1,6}").fullmatch, files.glob_names(RENDER_FOLDER, "renderD*"))
    paths = [*DEVICE_PATHS, *(f"{RENDER_FOLDER}/{name}" for name in nodes)]
    return tuple(device for path in paths if (device := _read_device(files, path, user, names)) is not None)


def group_names(files: MachineFiles, user: User) -> tuple[str, ...]:
    """The user's groups that own a device, and render and video. Other groups are private and left out."""
    names = _group_names_by_id(files)
    owning = {device.group for device in read_devices(files, user)}
    mine = (names.get(number, str(number)) for number in user.groups)
    return tuple(sorted(name for name in mine if name in owning or name in ("render", "video")))


def _read_device(files: MachineFiles, path: str, user: User, names: dict[int, str]) -> DeviceFile | None:
    device_path = files.path(path)
    try:
        status = device_path.stat()
    except OSError:
        return None
    return DeviceFile(
        path=path,
        usable=os.access(device_path, os.R_OK | os.W_OK),
        group=names.get(status.st_gid, str(status.st_gid)),
        member=status.st_gid in user.groups,
        mode=stat.filemode(status.st_mode),
    )


def _group_names_by_id(files: MachineFiles) -> dict[int, str]:
    names = {}
    for line in files.text("/etc/group").splitlines():
        parts = line.split(":")
        named = len(parts) >= 3 and re.fullmatch(r"[A-Za-z0-9_][\w.-]{0,63}", parts[0])
        if named and re.fullmatch(r"[0-9]{1,10}", parts[2]):
            names[int(parts[2])] = parts[0]
    return names
