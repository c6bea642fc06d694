"""Downloads wheels by name, version and digest, and unpacks parts of them. Nothing is installed."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.model.failure import MachineError
from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from rocm3d.model.toolchain import WheelContent, WheelPart

# Wheels have hundreds of megabytes: leave time for slow connections.
_SECONDS = 3600.0


def fetch(part: WheelPart, folder: Path) -> Path:
    """Downloads the wheel into a folder with the user's pip settings. Builds and installs nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = folder / f"{part.distribution}.txt"
    digest = f" --hash=sha256:{part.sha256}" if part.sha256 else ""
    wanted.write_text(f"{part.distribution}=={part.version}{digest}\n", encoding="utf-8")
    place = folder / part.distribution
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(place), "--requirement", str(wanted)]
    if part.python:
        command += ["--python-version", part.python]
    for platform in part.platforms:
        command += ["--platform", platform]
    ended = run(command, seconds=_SECONDS)
    found = sorted(place.glob("*.whl")) if place.is_dir() else []
    if ended.code != 0 or len(found) != 1:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        reason = said[-1] if said else f"pip exited with code {ended.code}"
        raise MachineError(
            f"cannot download {part.distribution} {part.version}: {reason}", hint="can pip reach its index?"
        )
    return found[0]


def unpack(wheel: Path, takes: tuple[WheelContent, ...], target: Path) -> int:
    """Unpacks the parts in `takes`; returns the number of files. No path leaves `target`."""
    count = 0
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            place = None if member.is_dir() else _place(member.filename, takes, target)
            if place is None:
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(archive.read(member))
            count += 1
    if not count:
        raise MachineError(f"{wheel.name} has none of the required files", hint="it may be another build of the wheel")
    return count


def _place(name: str, takes: tuple[WheelContent, ...], target: Path) -> Path | None:
    if ".." in PurePosixPath(name).parts or name.startswith("/"):
        return None
    for item in takes:
        if name.startswith(item.prefix):
            place = target / f"{item.to}{name[len(item.prefix) :]}"
            return None if item.missing_only and place.exists() else place
    return None
