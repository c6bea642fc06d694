"""Downloads wheels by name, version and digest, and unpacks parts of them. Nothing is installed."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from rocm3d.model.errors import MachineError
from rocm3d.workspace.process import run

if TYPE_CHECKING:
    from rocm3d.model.toolchain import WheelContent, WheelPart

# Wheels have hundreds of megabytes: leave time for slow connections.
_SECONDS = 3600.0


def fetch(part: WheelPart, folder: Path) -> Path:
    """Downloads the wheel into a folder with the user's pip settings. Builds and installs nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    requirements_file = folder / f"{part.distribution}.txt"
    digest = f" --hash=sha256:{part.sha256}" if part.sha256 else ""
    requirements_file.write_text(f"{part.distribution}=={part.version}{digest}\n", encoding="utf-8")
    download_folder = folder / part.distribution
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary", ":all:", "--dest", str(download_folder), "--requirement", str(requirements_file)]
    if part.python:
        command += ["--python-version", part.python]
    for platform in part.platforms:
        command += ["--platform", platform]
    finished = run(command, seconds=_SECONDS)
    wheels = sorted(download_folder.glob("*.whl")) if download_folder.is_dir() else []
    if finished.code != 0 or len(wheels) != 1:
        stderr_lines = finished.stderr.decode(errors="replace").strip().splitlines()
        reason = stderr_lines[-1] if stderr_lines else f"pip exited with code {finished.code}"
        raise MachineError(
            f"cannot download {part.distribution} {part.version}: {reason}", hint="can pip reach its index?"
        )
    return wheels[0]


def unpack(wheel: Path, takes: tuple[WheelContent, ...], target: Path) -> int:
    """Unpacks the parts in `takes`; returns the number of files. No path leaves `target`."""
    count = 0
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            path = None if member.is_dir() else _target_path(member.filename, takes, target)
            if path is None:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(member))
            count += 1
    if not count:
        raise MachineError(f"{wheel.name} has none of the required files", hint="it may be another build of the wheel")
    return count


def _target_path(name: str, takes: tuple[WheelContent, ...], target: Path) -> Path | None:
    if ".." in PurePosixPath(name).parts or name.startswith("/"):
        return None
    for part in takes:
        if name.startswith(part.prefix):
            path = target / f"{part.to}{name[len(part.prefix) :]}"
            return None if part.missing_only and path.exists() else path
    return None
