"""Paths and digests of the record files, without loading a model."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from rocm3d.knowledge.kinds import FOLDERS, RULE_KINDS, SCAN_KINDS


def data_folder() -> Path:
    """The folder of the shipped records: inside the wheel, or at the root of a checkout."""
    shipped = Path(__file__).parent / "data"
    return shipped if shipped.is_dir() else Path(__file__).parents[3] / "knowledge"


def record_paths(root: Path, kind: str) -> list[Path]:
    """The files of a kind, sorted."""
    return [Path(name) for name in _record_files(str(root), kind)]


def _record_files(root: str, kind: str) -> list[str]:
    """Text instead of Path objects: every scan lists hundreds of records, and most are only hashed."""
    if kind in ("rules", *RULE_KINDS):
        folders = [f"{root}/rules/{group}" for group in _names(f"{root}/rules")]
        files = [f"{folder}/{rule}/rule.toml" for folder in folders for rule in _names(folder)]
    elif kind in FOLDERS:
        files = [f"{root}/{kind}/{name}" for name in _names(f"{root}/{kind}") if name.endswith(".toml")]
    else:
        files = [f"{root}/{kind}.toml"]
    return [name for name in files if os.path.isfile(name)]  # noqa: PTH113


def _names(folder: str) -> list[str]:
    """The sorted names in a folder; none if it does not exist."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return []


def scan_fingerprint(roots: Iterable[Path]) -> str:
    """A digest of all files that a scan depends on."""
    digest = hashlib.sha256()
    for root in roots:
        start = len(str(root)) + 1
        for path in dict.fromkeys(name for kind in SCAN_KINDS for name in _record_files(str(root), kind)):
            status = os.stat(path)  # noqa: PTH116
            digest.update(f"{path[start:]} {_file_digest(path, status.st_size, status.st_mtime_ns)}\n".encode())
    return digest.hexdigest()


@cache
def _file_digest(path: str, size: int, modified: int) -> str:  # noqa: ARG001  (a changed file is another key)
    """A scan without a cached result needs the digest twice."""
    with open(path, "rb") as file:  # noqa: PTH123
        return hashlib.sha256(file.read()).hexdigest()
