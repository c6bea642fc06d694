"""Folders in which libraries cache compiled kernels, and whether they are writable."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rocm3d.host.mounts import Mount, find_mount
from rocm3d.model.snapshot import KernelCache
from rocm3d.record.caches import cache_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from rocm3d.host.files import MachineFiles
    from rocm3d.knowledge.base import Knowledge


def read_kernel_caches(
    files: MachineFiles, environment: Mapping[str, str], knowledge: Knowledge, mounts: Sequence[Mount]
) -> Iterator[KernelCache]:
    """One entry per cache variable of the knowledge base. Read-only: no folder is created."""
    for variable in knowledge.variables.values():
        if variable.cache:
            folder = cache_folder(variable, environment)
            mount = find_mount(str(folder), mounts)
            # A default path may contain the user name, which must not be in a snapshot.
            displayed = (
                str(folder) if environment.get(variable.id) or "{user}" not in variable.cache else variable.cache
            )
            yield KernelCache(
                variable=variable.id,
                path=displayed[:4096],
                writable=_is_writable(files.path(folder)),
                filesystem=mount.filesystem if mount else "",
            )


def _is_writable(folder: Path) -> bool:
    """Checks the nearest existing parent, in which the missing folders would be created."""
    for candidate in (folder, *folder.parents):
        try:
            if candidate.exists():
                return candidate.is_dir() and os.access(candidate, os.W_OK | os.X_OK)
        except OSError:
            return False
    return False
